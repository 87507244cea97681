//! Reader of Gmsh meshes, formats 2.2 and 4.1, ASCII and binary.

use std::collections::BTreeMap;

use super::{ElastodynamicError, ElementKind, Mesh};

impl Mesh {
    /// Reads a mesh of Gmsh; physical groups become groups of the mesh.
    ///
    /// The dimension of the mesh is that of the space its nodes span: nodes with one z lie in the
    /// plane, nodes with one y as well on the x axis.
    pub fn read_gmsh(bytes: &[u8]) -> Result<Self, ElastodynamicError> {
        Reader::new(bytes)?.read()
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    section: String,
    version4: bool,
    binary: bool,
    names: BTreeMap<(u32, i64), String>,
    /// Physical tags of entities by (dimension, tag), format 4.
    entities: BTreeMap<(u32, i64), Vec<i64>>,
    nodes: Vec<(u64, [f64; 3])>,
    /// Kind, tag, physical tags (index into `lists`), first node in `element_nodes`.
    elements: Vec<(ElementKind, u64, u32)>,
    lists: Vec<(u32, Vec<i64>)>,
    element_nodes: Vec<u64>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, ElastodynamicError> {
        Ok(Self {
            bytes,
            at: 0,
            section: "MeshFormat".into(),
            version4: false,
            binary: false,
            names: BTreeMap::new(),
            entities: BTreeMap::new(),
            nodes: Vec::new(),
            elements: Vec::new(),
            lists: Vec::new(),
            element_nodes: Vec::new(),
        })
    }

    fn wrong(&self, expected: &'static str) -> ElastodynamicError {
        ElastodynamicError::Section {
            section: self.section.clone(),
            offset: self.at,
            expected,
        }
    }

    /// Next line without its end.
    fn line(&mut self) -> Option<&'a str> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        let line = std::str::from_utf8(&rest[..end]).ok()?;
        Some(line.trim())
    }

    /// Next word of text.
    fn word(&mut self) -> Option<&'a str> {
        while self.at < self.bytes.len() && self.bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        let start = self.at;
        while self.at < self.bytes.len() && !self.bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        std::str::from_utf8(&self.bytes[start..self.at])
            .ok()
            .filter(|word| !word.is_empty())
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ElastodynamicError> {
        let end = self.at + N;
        let slice = self.bytes.get(self.at..end);
        let slice = slice.ok_or_else(|| self.wrong("more bytes"))?;
        self.at = end;
        // The slice has N bytes.
        Ok(slice.try_into().unwrap_or([0; N]))
    }

    /// The next word of a text.
    fn parsed<T: std::str::FromStr>(
        &mut self,
        expected: &'static str,
    ) -> Result<T, ElastodynamicError> {
        let word = self.word().and_then(|word| word.parse().ok());
        word.ok_or_else(|| self.wrong(expected))
    }

    /// A 4-byte integer of a binary file or an integer of text.
    fn int(&mut self) -> Result<i64, ElastodynamicError> {
        if self.binary {
            Ok(i64::from(i32::from_le_bytes(self.take()?)))
        } else {
            self.parsed("an integer")
        }
    }

    /// An 8-byte unsigned integer of a binary file or an integer of text.
    fn size(&mut self) -> Result<u64, ElastodynamicError> {
        if self.binary {
            Ok(u64::from_le_bytes(self.take()?))
        } else {
            self.parsed("a nonnegative integer")
        }
    }

    fn number(&mut self) -> Result<f64, ElastodynamicError> {
        if self.binary {
            Ok(f64::from_le_bytes(self.take()?))
        } else {
            self.parsed("a number")
        }
    }

    /// A count that cannot exceed what the rest of the file can hold.
    fn count(&mut self, size: u64) -> Result<usize, ElastodynamicError> {
        let rest = (self.bytes.len() - self.at) as u64;
        if size <= rest {
            Ok(size as usize)
        } else {
            Err(self.wrong("a count that the file can hold"))
        }
    }

    fn read(mut self) -> Result<Mesh, ElastodynamicError> {
        self.format()?;
        while let Some(line) = self.line() {
            let Some(name) = line.strip_prefix('$') else {
                continue;
            };
            if name.starts_with("End") {
                continue;
            }
            self.section = name.to_string();
            match (name, self.version4) {
                ("PhysicalNames", _) => self.physical_names()?,
                ("Entities", true) => self.read_entities()?,
                ("Nodes", true) => self.nodes_4()?,
                ("Nodes", false) => self.nodes_2()?,
                ("Elements", true) => self.elements_4()?,
                ("Elements", false) => self.elements_2()?,
                _ => self.skip(),
            }
        }
        self.build()
    }

    fn format(&mut self) -> Result<(), ElastodynamicError> {
        let first = self.line().unwrap_or_default();
        let format = |found: &str| ElastodynamicError::Format {
            found: found.chars().take(60).collect(),
        };
        if first != "$MeshFormat" {
            return Err(format(first));
        }
        let line = self.line().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[version, kind, "8"] = words.as_slice() else {
            return Err(format(line));
        };
        self.version4 = match version {
            "2.2" | "2" => false,
            "4.1" => true,
            _ => return Err(format(line)),
        };
        self.binary = kind == "1";
        if self.binary {
            let one: [u8; 4] = self.take()?;
            if i32::from_le_bytes(one) != 1 {
                return Err(ElastodynamicError::ByteOrder);
            }
        }
        Ok(())
    }

    /// Moves behind the end of an unknown section.
    fn skip(&mut self) {
        let end = format!("$End{}", self.section);
        let rest = &self.bytes[self.at..];
        let found = rest
            .windows(end.len())
            .position(|window| window == end.as_bytes());
        self.at = found.map_or(self.bytes.len(), |k| self.at + k + end.len());
    }

    fn physical_names(&mut self) -> Result<(), ElastodynamicError> {
        // Always text, also in binary files.
        let count: usize = self
            .line()
            .and_then(|line| line.parse().ok())
            .ok_or_else(|| self.wrong("the number of names"))?;
        for _ in 0..count {
            let line = self.line().unwrap_or_default();
            let mut words = line.splitn(3, char::is_whitespace);
            let dimension = words.next().and_then(|w| w.parse().ok());
            let tag = words.next().and_then(|w| w.parse().ok());
            let name = words.next().map(|w| w.trim().trim_matches('"').to_string());
            match (dimension, tag, name) {
                (Some(dimension), Some(tag), Some(name)) => {
                    self.names.insert((dimension, tag), name);
                }
                _ => return Err(self.wrong("dimension, number and name in quotes")),
            }
        }
        Ok(())
    }

    fn read_entities(&mut self) -> Result<(), ElastodynamicError> {
        let mut counts = [0; 4];
        for count in &mut counts {
            let size = self.size()?;
            *count = self.count(size)?;
        }
        for (dimension, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                let tag = self.int()?;
                for _ in 0..if dimension == 0 { 3 } else { 6 } {
                    self.number()?;
                }
                let size = self.size()?;
                let physical = (0..self.count(size)?)
                    .map(|_| self.int())
                    .collect::<Result<Vec<_>, _>>()?;
                if dimension > 0 {
                    let size = self.size()?;
                    for _ in 0..self.count(size)? {
                        self.int()?;
                    }
                }
                self.entities.insert((dimension as u32, tag), physical);
            }
        }
        Ok(())
    }

    fn nodes_2(&mut self) -> Result<(), ElastodynamicError> {
        let count = self.text_count()?;
        for _ in 0..count {
            let tag = self.int()? as u64;
            let x = [self.number()?, self.number()?, self.number()?];
            self.nodes.push((tag, x));
        }
        Ok(())
    }

    /// A count on a line of its own, text in both kinds of files of format 2.
    fn text_count(&mut self) -> Result<usize, ElastodynamicError> {
        let size = self
            .line()
            .and_then(|line| line.parse::<u64>().ok())
            .ok_or_else(|| self.wrong("a count"))?;
        self.count(size)
    }

    fn nodes_4(&mut self) -> Result<(), ElastodynamicError> {
        let blocks = self.size()?;
        for _ in 0..3 {
            self.size()?;
        }
        for _ in 0..self.count(blocks)? {
            let dimension = self.int()?;
            self.int()?;
            let parametric = self.int()? != 0;
            let size = self.size()?;
            let count = self.count(size)?;
            let first = self.nodes.len();
            for _ in 0..count {
                let tag = self.size()?;
                self.nodes.push((tag, [0.0; 3]));
            }
            for k in first..first + count {
                self.nodes[k].1 = [self.number()?, self.number()?, self.number()?];
                if parametric {
                    for _ in 0..dimension {
                        self.number()?;
                    }
                }
            }
        }
        Ok(())
    }

    fn kind(&self, number: i64) -> Result<ElementKind, ElastodynamicError> {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        ElementKind::from_gmsh_type(number).ok_or(ElastodynamicError::ElementType { number })
    }

    /// Index of a list of physical tags, reusing the last one.
    fn list(&mut self, dimension: u32, tags: Vec<i64>) -> u32 {
        if self.lists.last() != Some(&(dimension, tags.clone())) {
            self.lists.push((dimension, tags));
        }
        self.lists.len() as u32 - 1
    }

    fn elements_2(&mut self) -> Result<(), ElastodynamicError> {
        let count = self.text_count()?;
        let mut done = 0;
        while done < count {
            // Text: number, type, tags per element. Binary: a header for many elements.
            let (number, kind, group, tags) = if self.binary {
                let kind = self.int()?;
                let group = self.int()?;
                (None, self.kind(kind)?, group, self.int()?)
            } else {
                let number = self.int()?;
                let kind = self.int()?;
                (Some(number), self.kind(kind)?, 1, self.int()?)
            };
            for _ in 0..group {
                let number = match number {
                    Some(number) => number,
                    None => self.int()?,
                };
                let mut physical = Vec::new();
                for k in 0..tags {
                    let tag = self.int()?;
                    if k == 0 && tag != 0 {
                        physical.push(tag);
                    }
                }
                for _ in 0..kind.node_count() {
                    let node = self.int()? as u64;
                    self.element_nodes.push(node);
                }
                let list = self.list(kind.dimension() as u32, physical);
                self.elements.push((kind, number as u64, list));
                done += 1;
            }
            if group == 0 {
                return Err(self.wrong("elements in a block"));
            }
        }
        Ok(())
    }

    fn elements_4(&mut self) -> Result<(), ElastodynamicError> {
        let blocks = self.size()?;
        for _ in 0..3 {
            self.size()?;
        }
        for _ in 0..self.count(blocks)? {
            let dimension = self.int()?;
            let entity = self.int()?;
            let kind = self.int()?;
            let kind = self.kind(kind)?;
            let size = self.size()?;
            let tags = self.entities.get(&(dimension as u32, entity)).cloned();
            let list = self.list(dimension as u32, tags.unwrap_or_default());
            for _ in 0..self.count(size)? {
                let number = self.size()?;
                for _ in 0..kind.node_count() {
                    let node = self.size()?;
                    self.element_nodes.push(node);
                }
                self.elements.push((kind, number, list));
            }
        }
        Ok(())
    }

    fn build(self) -> Result<Mesh, ElastodynamicError> {
        for (what, empty) in [
            ("nodes", self.nodes.is_empty()),
            ("elements", self.elements.is_empty()),
        ] {
            if empty {
                return Err(ElastodynamicError::Empty { what });
            }
        }
        let flat = |k: usize| {
            let first = self.nodes[0].1[k];
            self.nodes.iter().all(|(_, x)| x[k] == first)
        };
        let highest = self
            .elements
            .iter()
            .map(|(kind, ..)| kind.dimension())
            .max()
            .unwrap_or(1);
        let spanned = match (flat(1), flat(2)) {
            (_, false) => 3,
            (false, true) => 2,
            (true, true) => 1,
        };
        let mut mesh = Mesh::new(highest.max(spanned));
        let tagged = self.nodes.iter().map(|&(tag, x)| (tag, mesh.add_node(x)));
        let numbers = NodeNumbers::new(tagged.collect());
        // Name of each group of a list of physical tags.
        let names: Vec<Vec<String>> = self
            .lists
            .iter()
            .map(|(dimension, tags)| {
                tags.iter()
                    .map(|tag| {
                        let known = self.names.get(&(*dimension, *tag));
                        known
                            .cloned()
                            .unwrap_or_else(|| format!("physical-{dimension}-{tag}"))
                    })
                    .collect()
            })
            .collect();
        let mut first = 0;
        let mut nodes = Vec::new();
        for &(kind, number, list) in &self.elements {
            nodes.clear();
            for &tag in &self.element_nodes[first..first + kind.node_count()] {
                nodes.push(numbers.find(tag).ok_or(ElastodynamicError::Node {
                    element: number,
                    node: tag,
                })?);
            }
            first += kind.node_count();
            let e = mesh.add_element(kind, &nodes);
            for name in &names[list as usize] {
                mesh.add_to_group(name, e);
            }
        }
        let nodes = self.nodes.iter().map(|&(tag, _)| tag).collect();
        let elements = self.elements.iter().map(|&(_, number, _)| number).collect();
        Ok(mesh.finish().with_file_numbers(nodes, elements))
    }
}

/// Numbers of the nodes by tag; tags are nearly dense in practice but need not be.
enum NodeNumbers {
    /// The number at the place of its tag, or none.
    Dense(Vec<Option<u32>>),
    /// Tags with their numbers, in order.
    Sorted(Vec<(u64, u32)>),
}

impl NodeNumbers {
    fn new(mut tagged: Vec<(u64, u32)>) -> Self {
        tagged.sort_unstable();
        let last = tagged.last().map_or(0, |&(tag, _)| tag);
        if last >= 4 * tagged.len() as u64 + 1000 {
            return Self::Sorted(tagged);
        }
        let mut table = vec![None; last as usize + 1];
        for (tag, number) in tagged {
            table[tag as usize] = Some(number);
        }
        Self::Dense(table)
    }

    fn find(&self, tag: u64) -> Option<u32> {
        match self {
            Self::Dense(table) => *table.get(usize::try_from(tag).ok()?)?,
            Self::Sorted(tagged) => {
                let k = tagged.binary_search_by_key(&tag, |pair| pair.0).ok()?;
                Some(tagged[k].1)
            }
        }
    }
}
