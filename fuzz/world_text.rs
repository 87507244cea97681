//! A world as text from any bytes: mostly sensible, with sizes, places and speeds that are not.

/// Bytes that are read one after the other; zeros follow the last.
struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.next() as usize % list.len()]
    }

    /// A number: of order one, or once in a hundred times an extreme one.
    fn number(&mut self) -> String {
        let (kind, digit) = (self.next(), self.next());
        let extreme = [
            "0", "1e-200", "1e12", "-1e12", "1e300", "-0.0", "1e-9", "1/0",
        ];
        if kind < 3 {
            return extreme[digit as usize % extreme.len()].into();
        }
        format!("{}", (f64::from(digit) - 127.5) / 64.0)
    }

    /// A length: positive, or once in a hundred times one that is not or is extreme.
    fn length(&mut self) -> String {
        let (kind, digit) = (self.next(), self.next());
        let extreme = ["0", "-1", "1e-200", "1e12", "1e-6", "1e-3"];
        if kind < 3 {
            return extreme[digit as usize % extreme.len()].into();
        }
        format!("{}", (f64::from(digit) + 8.0) / 128.0)
    }

    fn vector(&mut self, length: usize) -> String {
        let parts: Vec<String> = (0..length)
            .map(|_| format!("\"{}\"", self.number()))
            .collect();
        format!("[{}]", parts.join(", "))
    }

    /// A shape; obstacles are for bodies that are not free.
    fn shape(&mut self, space: bool, free: bool) -> String {
        let (a, b, c) = (self.length(), self.length(), self.length());
        let quoted = |x: &str| format!("\"{x}\"");
        let (a, b, c) = (quoted(&a), quoted(&b), quoted(&c));
        if !space {
            let count = if free { 4 } else { 5 };
            return match self.next() % count {
                0 => format!("disc = {a}"),
                1 => format!("rectangle = [{a}, {b}]"),
                2 => format!("capsule = {{ radius = {a}, length = {b} }}"),
                3 => format!(
                    "polygon = [{}, {}, {}]",
                    self.vector(2),
                    self.vector(2),
                    self.vector(2)
                ),
                _ => format!("half_plane = {}", self.vector(2)),
            };
        }
        let count = if free { 7 } else { 9 };
        match self.next() % count {
            0 => format!("ball = {a}"),
            1 | 2 => format!("box = [{a}, {b}, {c}]"),
            3 => format!("capsule = {{ radius = {a}, length = {b} }}"),
            4 => format!("cylinder = {{ radius = {a}, length = {b} }}"),
            5 => format!("cone = {{ radius = {a}, length = {b} }}"),
            6 => {
                let points: Vec<String> =
                    (0..4 + self.next() % 5).map(|_| self.vector(3)).collect();
                format!("hull = [{}]", points.join(", "))
            }
            7 => {
                let values: Vec<String> = (0..9).map(|_| self.number()).collect();
                let row = |k: usize| values[3 * k..3 * k + 3].join("\", \"");
                let rows: Vec<String> = (0..3).map(|k| format!("[\"{}\"]", row(k))).collect();
                format!(
                    "height_field = {{ values = [{}], size = [{a}, {b}] }}",
                    rows.join(", ")
                )
            }
            _ => format!("half_space = {}", self.vector(3)),
        }
    }
}

/// The text of a world.
pub fn world_text(bytes: &[u8]) -> String {
    let mut bytes = Bytes(bytes.iter());
    let space = bytes.next() % 3 > 0;
    let n = if space { 3 } else { 2 };
    let mut text = format!(
        "title = \"fuzz\"\nstep = {}\nuntil = 1\n",
        bytes.pick(&["1e-3", "1e-2", "0.1", "1e-9"])
    );
    text += bytes.pick(&["", "theta = 0.5\n", "scheme = \"moreau\"\n"]);
    text += &format!(
        "[world]\ndimension = {n}\n[[materials]]\nname = \"m\"\ndensity = \"{}\"\n",
        bytes.length()
    );
    text += &format!("friction = {}\n", bytes.pick(&["0", "0.5", "5", "0.1"]));
    text += &format!("restitution = {}\n", bytes.pick(&["0", "0.5", "1"]));
    for k in 0..2 + bytes.next() % 5 {
        let name = if bytes.next() % 40 == 0 { 0 } else { k };
        text += &format!("[[bodies]]\nname = \"b{name}\"\n");
        let kind = bytes.next() % 6;
        let free = kind > 1;
        let parts = 1 + usize::from(bytes.next() % 8 == 0);
        let shapes: Vec<String> = (0..parts)
            .map(|_| {
                format!(
                    "{{ {}, at = {} }}",
                    bytes.shape(space, free),
                    bytes.vector(n)
                )
            })
            .collect();
        text += &format!("shapes = [{}]\n", shapes.join(", "));
        // Bodies stand in a row, near each other or far apart.
        let apart = bytes.pick(&["2", "3", "4", "8"]);
        let place = format!(
            "[\"{k}*{apart} + {}\", {}",
            bytes.number(),
            &bytes.vector(n - 1)[1..]
        );
        match kind {
            0 => text += &format!("fixed = true\nposition = {place}\n"),
            1 => text += &format!("motion = {{ position = {place} }}\n"),
            _ => {
                text += &format!("position = {place}\nvelocity = {}\n", bytes.vector(n));
                if space {
                    text += &format!(
                        "spin = {}\nrotation = {}\n",
                        bytes.vector(3),
                        bytes.vector(3)
                    );
                }
                if bytes.next() % 6 == 0 {
                    text += &format!("mass = \"{}\"\n", bytes.length());
                }
            }
        }
    }
    text
}
