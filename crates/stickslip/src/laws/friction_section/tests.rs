//! Convex analysis of the sections: support, projection and gauge agree with each other.

use super::*;

#[test]
fn bad_data_is_refused_with_its_value() {
    assert_eq!(
        FrictionSection::disc(-0.1).unwrap_err(),
        FrictionError::Coefficient { value: -0.1 }
    );
    assert!(FrictionSection::disc(f64::NAN).is_err());
    assert_eq!(
        FrictionSection::interval(0.1, 0.2).unwrap_err(),
        FrictionError::Interval {
            lower: 0.1,
            upper: 0.2
        }
    );
    let away = [vec![1.0, 0.0], vec![2.0, 0.0], vec![1.0, 1.0]];
    match FrictionSection::polytope(&away).unwrap_err() {
        FrictionError::OriginOutside { distance } => assert!((distance - 1.0).abs() < 1e-12),
        other => panic!("{other:?}"),
    }
    let uneven = [vec![1.0, 0.0], vec![2.0]];
    assert_eq!(
        FrictionSection::polytope(&uneven).unwrap_err(),
        FrictionError::VertexDimension {
            index: 1,
            expected: 2,
            found: 1
        }
    );
    assert_eq!(
        FrictionSection::product(vec![FrictionSection::None]).unwrap_err(),
        FrictionError::EmptyPart { index: 0 }
    );
}
