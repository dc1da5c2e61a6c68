// Arguments that the host writes into memory; `kernels/records.ts` documents the fields.

@unmanaged
export class Product {
  columns: i32;
  depth: i32;
  aRow: i32;
  aDepth: i32;
  b: usize;
  bRow: i32;
  bPanel: i32;
  cRow: i32;
}

@unmanaged
export class OuterProduct {
  leftWidth: i32;
  leftRow: i32;
  rightWidth: i32;
}

@unmanaged
export class AttentionShape {
  heads: i32;
  kvHeads: i32;
  headWidth: i32;
  qRow: i32;
  kvRow: i32;
  outRow: i32;
  scale: f32;
}

@unmanaged
export class Span {
  queries: i32;
  row: i32;
  shared: i32;
  sharedRows: i32;
  own: i32;
  ownBefore: i32;
  p: i32;
  pRow: i32;
}

@unmanaged
export class Rotation {
  heads: i32;
  headWidth: i32;
  row: i32;
  cos: usize;
  sin: usize;
}

@unmanaged
export class AdamSettings {
  step: f32;
  fresh1: f32;
  fresh2: f32;
  epsilon: f32;
}
