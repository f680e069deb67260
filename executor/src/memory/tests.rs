use super::*;

#[test]
fn a_buffer_is_charged_as_long_as_it_lives() {
    let memory = Memory::new(1 << 20);
    let task = memory.account(1000);
    let first = task.allocate(600).unwrap();
    assert_eq!((task.used(), memory.used()), (600, 600));
    assert_eq!(first.bytes().len(), 600);
    assert_eq!(first.bytes().as_ptr() as usize % 64, 0);
    let shortage = task.allocate(401).err().unwrap();
    assert_eq!(shortage, Shortage::of(401, 600, 1000, Holder::Task));
    drop(first);
    assert_eq!((task.used(), task.peak(), memory.used()), (0, 600, 0));
}

#[test]
fn what_another_pays_for_counts_towards_the_request_only() {
    let memory = Memory::new(1000);
    let task = memory.account(500);
    let held = task.hold(400).unwrap();
    assert_eq!((task.used(), task.peak(), memory.used()), (400, 400, 0));
    let shortage = task.allocate(101).err().unwrap();
    assert_eq!(shortage, Shortage::of(101, 400, 500, Holder::Task));
    drop(held);
    assert_eq!(task.used(), 0);
}

#[test]
fn all_accounts_together_stay_within_the_machine() {
    let memory = Memory::new(1000);
    let (task, store) = (memory.account(800), memory.account(u64::MAX));
    let held = task.allocate(800).unwrap();
    held.charge().move_to(&store);
    assert_eq!((task.used(), store.used(), memory.used()), (0, 800, 800));
    let shortage = task.allocate(201).err().unwrap();
    assert_eq!(shortage, Shortage::of(201, 800, 1000, Holder::Machine));
    assert_eq!(task.used(), 0);
    drop(held);
    assert_eq!((store.used(), memory.used(), memory.peak()), (0, 0, 800));
}

#[test]
fn a_device_holds_memory_of_its_own_and_of_the_machine() {
    let machine = Memory::new(1000);
    let device = Memory::device(&machine, 600);
    let (task, on_device) = (machine.account(1000), device.account(u64::MAX));
    let held = on_device.allocate(500).unwrap();
    assert_eq!((device.used(), machine.used()), (500, 500));
    let shortage = on_device.allocate(101).err().unwrap();
    assert_eq!(shortage, Shortage::of(101, 500, 600, Holder::Device));
    let beside = task.allocate(450).unwrap();
    let shortage = on_device.allocate(51).err().unwrap();
    assert_eq!(shortage, Shortage::of(51, 950, 1000, Holder::Machine));
    assert_eq!((on_device.used(), device.peak()), (500, 500));
    drop((held, beside));
    assert_eq!((device.used(), machine.used()), (0, 0));
}

#[test]
fn freed_buffers_are_reused_within_bounds() {
    let memory = Memory::new(8 << 20);
    let task = memory.account(u64::MAX);
    let kept = task.allocate(1 << 20).unwrap();
    let place = kept.bytes().as_ptr();
    drop(kept);
    // A little smaller is of the same class; an eighth of 8 MiB may stay idle, not more.
    let again = task.allocate((1 << 20) - 100).unwrap();
    assert_eq!(again.bytes().as_ptr(), place);
    drop((again, task.allocate(1 << 20).unwrap()));
    assert_eq!(memory.state().idle_bytes, 1 << 20);
    // What is idle makes room.
    let _all = task.allocate(8 << 20).unwrap();
    assert_eq!(memory.state().idle_bytes, 0);
}

#[test]
fn bytes_print_for_people() {
    let cases = [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1 KiB"),
        (1536 << 20, "1.50 GiB"),
    ];
    for (bytes, text) in cases {
        assert_eq!(Bytes(bytes).to_string(), text);
    }
}
