//! A list that is too long is told at its first item too many.

use fable_std::catalogs::{Arena, read};

/// The first line of what is told about a file.
fn told(text: &str) -> String {
    let mistake = read(&Arena::new(), "long.toml", text).map(|_| "nothing").unwrap_err();
    mistake.to_string().lines().next().unwrap_or_default().to_owned()
}

/// As many items, named `a0`, `a1` and so on.
fn many(count: usize, item: impl Fn(&str) -> String) -> String {
    (0..count).map(|index| item(&format!("a{index}"))).collect()
}

/// A component of six lines and one for each value after the second.
fn component(name: &str, values: usize) -> String {
    let values = many(values, |name| format!("  {{ name = \"{name}\" }},\n"));
    format!("[[components]]\nname = \"{name}\"\nvalues = [\n{values}]\n")
}

/// A sound file of eight lines after `head`.
fn small(head: &str) -> String {
    format!("{head}{}[dictionary]\nblocks = [{{ of = \"c\" }}]\n", component("c", 2))
}

#[test]
fn names() {
    let list = |key: &str, count| {
        let names = many(count, |name| format!("  \"{name}\",\n"));
        small(&format!("name = \"long\"\n{key} = [\n{names}]\n"))
    };
    assert!(read(&Arena::new(), "", &list("tasks", 64)).is_ok());
    assert_eq!(told(&list("tasks", 65)), "long.toml:67:3: a catalog can have at most 64 tasks");
    assert!(read(&Arena::new(), "", &list("signals", 16)).is_ok());
    assert_eq!(told(&list("signals", 17)), "long.toml:19:3: a catalog can have at most 16 signals");
}

#[test]
fn components_values_and_actions() {
    let dictionary = "[dictionary]\nblocks = [{ of = \"a0\" }]\n";
    let file = |components: String| format!("name = \"long\"\n{components}{dictionary}");
    assert!(read(&Arena::new(), "", &file(many(8, |name| component(name, 1)))).is_ok());
    let nine = file(many(9, |name| component(name, 1)));
    assert_eq!(told(&nine), "long.toml:43:8: a catalog needs between 1 and 8 components");
    assert!(read(&Arena::new(), "", &file(component("a0", 256))).is_ok());
    for values in [0, 257, 1000] {
        assert_eq!(
            told(&file(component("a0", values))),
            "long.toml:3:8: a component needs between 1 and 256 values"
        );
    }
    assert!(read(&Arena::new(), "", &file(component("a0", 32) + &component("b", 32))).is_ok());
    assert_eq!(
        told(&file(component("a0", 33) + &component("b", 32))),
        "long.toml:40:8: a catalog can have at most 1024 complete actions; with this component there are 1056"
    );
}

#[test]
fn terms_and_contrasts() {
    let head = "name = \"long\"\n";
    let term = |_: &str| "[[terms]]\nweight = 1\nany_of.c = \"a0\"\n".to_owned();
    assert!(read(&Arena::new(), "", &(small(head) + &many(64, term))).is_ok());
    assert_eq!(
        told(&(small(head) + &many(65, term))),
        "long.toml:203:10: a default score can have at most 64 terms"
    );
    let contrast =
        |name: &str| format!("[[contrasts]]\nname = \"{name}\"\nprefer.c = \"a0\"\nover.c = \"a1\"\n");
    assert!(read(&Arena::new(), "", &(small(head) + &many(64, contrast))).is_ok());
    assert_eq!(
        told(&(small(head) + &many(65, contrast))),
        "long.toml:267:8: a catalog can declare at most 64 contrasts"
    );
}

/// A file with every product of seven components of two values each, first shared, then per task.
fn products(tasks: usize, count: usize) -> String {
    let all = ["\"a0\",", "\"a1\",", "\"a2\",", "\"a3\",", "\"a4\",", "\"a5\",", "\"a6\","];
    let names =
        |bits: usize| (0..7).filter(|bit| bits >> bit & 1 == 1).map(|bit| all[bit]).collect::<String>();
    let block = |bits, per_task| format!("  {{ of = [{}], per_task = {per_task} }},\n", names(bits));
    let blocks = (1..128).map(|bits| block(bits, false)).chain((1..128).map(|bits| block(bits, true)));
    let blocks: String = blocks.take(count).collect();
    let tasks = many(tasks, |name| format!("\"{name}\","));
    let components = many(7, |name| component(name, 2));
    format!("name = \"long\"\ntasks = [{tasks}]\n{components}[dictionary]\nblocks = [\n{blocks}]\n")
}

#[test]
fn blocks_and_coordinates() {
    let (before, last) = (2 + 6 * 7 + 2, 129);
    assert!(read(&Arena::new(), "", &products(1, 128)).is_ok());
    assert_eq!(
        told(&products(1, 129)),
        format!("long.toml:{}:3: a dictionary needs between 1 and 128 blocks", before + last)
    );
    // Per task each product of so many components has 64 times 2^so many coordinates.
    let text = products(64, 127).replace("per_task = false", "per_task = true");
    let mut sum = 0;
    let fitting = (1_usize..128).map(|bits| 64 << bits.count_ones()).take_while(|size| {
        sum += size;
        sum <= 8192
    });
    let line = before + fitting.count() + 1;
    let says = "a dictionary can have at most 8192 coordinates; this block is too much; leave it out, or take values or tasks away";
    assert_eq!(told(&text), format!("long.toml:{line}:3: {says}"));
}
