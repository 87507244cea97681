//! One contact with one tangent, a disc or an ellipse is solved without allocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use stickslip::internals::one_contact::{
    LocalScratch, OneContact, gamma, solve_coulomb, solve_kinetic, solve_known_normal,
};
use stickslip::laws::FrictionSection;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// Safety: every call is handed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn warm_solves_in_plane_and_space_do_not_allocate() {
    let sections = [
        FrictionSection::segment(0.4).unwrap(),
        FrictionSection::interval(-0.2, 0.6).unwrap(),
        FrictionSection::disc(0.4).unwrap(),
        FrictionSection::ellipse([0.4, 0.2]).unwrap(),
    ];
    let mut scratch = LocalScratch::default();
    let mut before = 0;
    // The first round warms the scratch; the second must not allocate.
    for round in 0..2 {
        if round == 1 {
            before = ALLOCATIONS.load(Ordering::Relaxed);
        }
        for section in &sections {
            let m = 1 + section.dimension();
            for least in [0.0, 0.1] {
                let w = if m == 2 {
                    &[2.0, 0.4, 0.4, 1.0][..]
                } else {
                    &[2.0, 0.4, 0.3, 0.4, 1.0, 0.1, 0.3, 0.1, 1.5]
                };
                let q = [-1.0, 0.8, -2.0];
                let contact = OneContact {
                    w,
                    q: &q[..m],
                    section,
                    normal_impulse_min: least,
                };
                let mut p = [0.0; 3];
                assert!(
                    solve_coulomb(&contact, &mut p[..m], &mut scratch)
                        .state()
                        .is_some()
                );
                assert!(
                    solve_known_normal(&contact, &mut p[..m], &mut scratch)
                        .state()
                        .is_some()
                );
                assert!(
                    solve_kinetic(&contact, 0.0, &mut p[..m], &mut scratch)
                        .state()
                        .is_some()
                );
                assert!(gamma(w, section) > 0.0);
            }
        }
    }
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0);
}
