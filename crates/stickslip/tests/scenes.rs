//! Scenes and worlds as users write them: the gallery, refusals, hostile files, and the judge of their motions.

mod broken_scenes;
mod common;
mod elastic_gallery;
mod fuzz_corpus;
mod gallery;
mod hostile_worlds;
mod scene_documentation;
mod verify_drawn;
mod verify_exact_motions;
mod verify_gallery;
mod verify_groups;
mod verify_intervals;
mod verify_motions;
mod verify_passages;
mod verify_places;
mod verify_records;
mod verify_runs;
mod verify_scales;
mod verify_terrain;
mod verify_worlds;
mod view_data;
mod world_builder;
mod world_files;
mod world_gallery;
mod world_scenes;
mod worlds;
