/** Encodes single fields of protobuf messages, for the caller to concatenate. The caller knows the field numbers. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

export function message(field: number, fields: readonly Uint8Array[]): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(Buffer.concat(fields)).finish();
}

export function text(field: number, content: string): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).string(content).finish();
}

/** @param number A whole number from 0 up. */
export function varintField(field: number, number: number): Uint8Array {
  return new BinaryWriter().tag(field, WireType.Varint).uint64(number).finish();
}

export function double(field: number, number: number): Uint8Array {
  return new BinaryWriter().tag(field, WireType.Bit64).double(number).finish();
}

/** @param number Becomes infinite beyond the range of single precision. */
export function single(field: number, number: number): Uint8Array {
  return new BinaryWriter().tag(field, WireType.Bit32).float(Math.fround(number)).finish();
}
