//! A drawing as SVG.

use std::fmt::Write as _;

use super::canvas::{
    Anchor, Canvas, Color, Fill, HATCH_DOT, HATCH_PERIOD, HATCH_WIDTH, Hatch, Mark, Point, Stroke,
    Text,
};

/// The drawing as the text of an SVG file, which may also stand inside an HTML page.
pub fn svg(canvas: &Canvas) -> String {
    let (width, height) = (number(canvas.width), number(canvas.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>{}</title>\n",
        escape(&canvas.description)
    );
    patterns(canvas, &mut out);
    let _ = writeln!(
        out,
        "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
    );
    for mark in &canvas.marks {
        write_mark(mark, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

fn write_mark(mark: &Mark, out: &mut String) {
    match mark {
        Mark::Line { points, stroke } => {
            let _ = writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" {}/>",
                list(points),
                stroke_attributes(stroke)
            );
        }
        Mark::Segments { ends, stroke } => {
            let mut path = String::new();
            for [[x0, y0], [x1, y1]] in ends {
                let _ = write!(
                    path,
                    "M{} {}L{} {}",
                    number(*x0),
                    number(*y0),
                    number(*x1),
                    number(*y1)
                );
            }
            let _ = writeln!(
                out,
                "<path d=\"{path}\" fill=\"none\" {}/>",
                stroke_attributes(stroke)
            );
        }
        Mark::Area { points, fill } => {
            let _ = writeln!(
                out,
                "<polygon points=\"{}\" {}/>",
                list(points),
                paint(fill)
            );
        }
        Mark::Discs {
            centers,
            radius,
            fill,
            stroke,
        } => {
            let fill = fill.as_ref().map_or("fill=\"none\"".to_string(), paint);
            let stroke = stroke.as_ref().map(stroke_attributes).unwrap_or_default();
            let _ = writeln!(out, "<g {fill} {stroke}>");
            for [x, y] in centers {
                let _ = writeln!(
                    out,
                    "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
                    number(*x),
                    number(*y),
                    number(*radius)
                );
            }
            out.push_str("</g>\n");
        }
        Mark::Text(text) => write_text(text, out),
        Mark::Clip(Some([a, b])) => {
            // The name tells where it is, so that equal names in several drawings of one page mean equal windows.
            let [x0, y0, x1, y1] = [a[0], a[1], b[0], b[1]].map(number);
            let (width, height) = (number(b[0] - a[0]), number(b[1] - a[1]));
            let name = format!("window-{x0}-{y0}-{x1}-{y1}");
            let _ = writeln!(
                out,
                "<clipPath id=\"{name}\"><rect x=\"{x0}\" y=\"{y0}\" width=\"{width}\" height=\"{height}\"/></clipPath>\n\
                 <g clip-path=\"url(#{name})\">"
            );
        }
        Mark::Clip(None) => out.push_str("</g>\n"),
    }
}

fn write_text(text: &Text, out: &mut String) {
    let [x, y] = text.place.map(number);
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let turn = if text.upright {
        format!(" transform=\"rotate(-90 {x} {y})\"")
    } else {
        String::new()
    };
    let weight = if text.bold {
        " font-weight=\"bold\""
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{weight}{turn}>{}</text>",
        number(text.size),
        text.color.hex(),
        escape(&text.text)
    );
}

fn stroke_attributes(stroke: &Stroke) -> String {
    let mut text = format!(
        "stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"butt\"",
        stroke.color.hex(),
        number(stroke.width)
    );
    if !stroke.dash.is_empty() {
        let dash: Vec<String> = stroke.dash.iter().map(|&d| number(d)).collect();
        let _ = write!(text, " stroke-dasharray=\"{}\"", dash.join(" "));
    }
    text
}

/// Definitions of all hatches in use. Their names tell what they look like, so that equal names in
/// several drawings of one page mean equal patterns.
fn patterns(canvas: &Canvas, out: &mut String) {
    let mut known: Vec<String> = Vec::new();
    for mark in &canvas.marks {
        let Mark::Area {
            fill:
                Fill::Hatched {
                    hatch,
                    color,
                    ground,
                },
            ..
        } = mark
        else {
            continue;
        };
        let name = pattern_name(*hatch, *color, *ground);
        if known.contains(&name) {
            continue;
        }
        let p = number(HATCH_PERIOD);
        let half = number(0.5 * HATCH_PERIOD);
        let line = |turn: &str| {
            format!(
                "<line x1=\"0\" y1=\"{half}\" x2=\"{p}\" y2=\"{half}\" stroke=\"{}\" stroke-width=\"{}\"{turn}/>",
                color.hex(),
                number(HATCH_WIDTH)
            )
        };
        let upright = format!(" transform=\"rotate(90 {half} {half})\"");
        let (turn, body) = match hatch {
            Hatch::Rising => (-45, line("")),
            Hatch::Falling => (45, line("")),
            Hatch::Vertical => (90, line("")),
            Hatch::Horizontal => (0, line("")),
            Hatch::Cross => (45, line("") + &line(&upright)),
            Hatch::Dots => (
                0,
                format!(
                    "<circle cx=\"{half}\" cy=\"{half}\" r=\"{}\" fill=\"{}\"/>",
                    number(HATCH_DOT),
                    color.hex()
                ),
            ),
        };
        let _ = writeln!(
            out,
            "<defs><pattern id=\"{name}\" width=\"{p}\" height=\"{p}\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate({turn})\"><rect width=\"{p}\" height=\"{p}\" fill=\"{}\"/>{body}</pattern></defs>",
            ground.hex()
        );
        known.push(name);
    }
}

fn pattern_name(hatch: Hatch, color: Color, ground: Color) -> String {
    let word = hatch.word();
    format!("{word}-{}-{}", &color.hex()[1..], &ground.hex()[1..])
}

fn paint(fill: &Fill) -> String {
    match fill {
        Fill::Solid(color) => format!("fill=\"{}\"", color.hex()),
        Fill::Veil(color, share) => {
            format!(
                "fill=\"{}\" fill-opacity=\"{}\"",
                color.hex(),
                number(*share)
            )
        }
        Fill::Hatched {
            hatch,
            color,
            ground,
        } => format!("fill=\"url(#{})\"", pattern_name(*hatch, *color, *ground)),
    }
}

fn list(points: &[Point]) -> String {
    let mut out = String::with_capacity(14 * points.len());
    for (i, [x, y]) in points.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        let _ = write!(out, "{},{}", number(*x), number(*y));
    }
    out
}

/// Two decimals at most.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_string()
}

/// Text with the characters replaced that mean something in XML; control characters are dropped.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [1.0, 0.5, -0.001, 12.346].map(number);
        assert_eq!(texts, ["1", "0.5", "0", "12.35"]);
    }

    #[test]
    fn titles_cannot_break_out() {
        let mut canvas = Canvas::new(10.0, 10.0, "a <b> & \"c\"");
        canvas.text([1.0, 1.0], "</text><script>", 10.0, Anchor::Start);
        let text = svg(&canvas);
        assert!(!text.contains("<script>") && text.contains("a &lt;b&gt; &amp; &quot;c&quot;"));
    }
}
