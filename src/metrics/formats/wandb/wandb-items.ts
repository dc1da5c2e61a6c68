import { parseJsonLine } from '../../../contract/json-line.js';
import { Fields, wire } from '../../binary/protobuf.js';
import { RepeatedNames } from '../../binary/repeated-names.js';
import type { WrittenRow } from '../format.js';

const item = { key: 1, nested: 2, json: 16 };
/** Marks what is no number in a row: `hist._type` is the type of `hist`, all of whose parts have longer names. */
export const TYPE = '._type';

/** The items of a message that has them in a field of this number: keys and values. */
export function itemsIn(bytes: Buffer, from: number, to: number, number: number): WrittenRow {
  const row: Record<string, unknown> = {};
  const fields = new Fields().walk(bytes, from, to);
  const inner = new Fields();
  while (fields.next()) if (fields.is(number, wire.bytes)) takeItem(inner.walk(bytes, fields.start, fields.end), row);
  return row;
}

/** Runs of a project have the same keys. */
const names = new RepeatedNames();

/** Puts an item into a row; returns true for the type of what is no number. */
export function takeItem(fields: Fields, row: Record<string, unknown>): boolean {
  let key = '';
  let nested = '';
  let value: unknown;
  while (fields.next()) {
    const { bytes, start, end } = fields;
    if (fields.is(item.json, wire.bytes)) value = valueOf(fields);
    else if (fields.is(item.key, wire.bytes)) key = names.at(bytes, start, end);
    else if (fields.is(item.nested, wire.bytes)) {
      const part = names.at(bytes, start, end);
      nested = nested === '' ? part : `${nested}.${part}`;
    }
  }
  const name = nested || key;
  if (name === '' || name.startsWith('_wandb')) return false;
  return put(row, name, value) || name.endsWith(TYPE);
}

/** Puts a value into a row; returns true if only its type was put there, as it is no number. */
function put(row: Record<string, unknown>, name: string, value: unknown): boolean {
  const isTyped = typeof value === 'object' && value !== null && '_type' in value;
  if (isTyped) row[name + TYPE] = value._type;
  else row[name] = (typeof value === 'string' ? numbers[value] : undefined) ?? value;
  return isTyped;
}

/** Stored as texts. */
const numbers: Readonly<Record<string, number>> = { NaN, Infinity, '-Infinity': -Infinity };

const [MINUS, ZERO, NINE] = [0x2d, 0x30, 0x39];

/** A value from its JSON. Nearly all are numbers, for which the parser of whole lines takes several times as long. */
function valueOf({ bytes, start, text }: Fields): unknown {
  const first = bytes[start]!;
  const number = first === MINUS || (first >= ZERO && first <= NINE) ? Number(text) : NaN;
  return Number.isNaN(number) ? parseJsonLine(`{"value":${text}}`)?.['value'] : number;
}
