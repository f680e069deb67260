//! Promotion against the array API standard and NumPy 2 (`data/promotion.json`, made with
//! numpy 2 and ml_dtypes by asking `result_type` for every pair).

use haul_ir::dtype::DType;
use serde_json::Value;

/// NumPy's name of a dtype.
fn numpy_name(dtype: DType) -> String {
    match dtype.name().split_at(1) {
        ("b", "ool") => "bool".into(),
        ("b", _) => "bfloat16".into(),
        ("u", bits) => format!("uint{bits}"),
        ("i", bits) => format!("int{bits}"),
        ("f", bits) => format!("float{bits}"),
        (_, bits) => format!("complex{bits}"),
    }
}

#[test]
fn promotion_is_the_array_apis_else_numpys_else_refused() {
    let data: Value = serde_json::from_str(include_str!("data/promotion.json")).unwrap();
    let mut compared = 0;
    for a in DType::ALL {
        for b in DType::ALL {
            let entry = &data["table"][format!("{},{}", numpy_name(a), numpy_name(b))];
            let ours = a.promote(b).map(numpy_name);
            assert_eq!(a.promote(b), b.promote(a), "{a} with {b}");
            match (&entry["array_api"], &entry["numpy2"]) {
                (Value::String(required), _) => {
                    assert_eq!(ours.as_ref(), Some(required), "{a},{b}")
                }
                (_, Value::String(numpy)) => {
                    assert!(
                        ours.is_none() || ours.as_ref() == Some(numpy),
                        "{a},{b}: {ours:?}"
                    );
                }
                // `bf16` stands outside NumPy: only its pairs may be absent from the table.
                _ => {
                    assert!([a, b].contains(&DType::Bf16), "{a},{b} is not in the table");
                    continue;
                }
            }
            compared += 1;
        }
    }
    assert_eq!(compared, data["table"].as_object().unwrap().len());
}

#[test]
fn bf16_meets_others_as_ml_dtypes_says() {
    use DType::*;
    let pairs = [
        (I8, Bf16),
        (U8, Bf16),
        (F16, F32),
        (F32, F32),
        (I16, F32),
        (C64, C64),
        (Bool, Bf16),
    ];
    for (other, expected) in pairs {
        assert_eq!(Bf16.promote(other), Some(expected), "bf16 with {other}");
    }
}

#[test]
fn names_are_read_back() {
    for dtype in DType::ALL {
        assert_eq!(dtype.name().parse(), Ok(dtype));
    }
}
