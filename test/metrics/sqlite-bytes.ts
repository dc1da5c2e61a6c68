/** Values of one row; the first column is the row's own number, which is not among them. */
type SqlValues = readonly (string | number)[];

const PAGE = 32_768;
const HEADER = 100;
const LEAF = 0x0d;
/** Types of values in a record: a whole number of eight bytes, a text of some length. */
const LONG = 6;
const textType = (length: number) => 13 + 2 * length;

/**
 * An SQLite database of one table, whose rows fit on a page, by the format's description (sqlite.org/fileformat.html).
 *
 * @param columns The names behind `id INTEGER PRIMARY KEY`.
 */
export function sqliteBytes(table: string, columns: readonly string[], rows: readonly SqlValues[]): Buffer {
  const sql = `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, ${columns.join(', ')})`;
  const schema = leaf([['table', table, table, 2, sql]], HEADER, (values) => record(values));
  schema.write('SQLite format 3\0', 0, 'latin1');
  schema.writeUInt16BE(PAGE, 16);
  schema.set([1, 1, 0, 64, 32, 32], 18);
  for (const [at, value] of [[24, 1], [28, 2], [40, 1], [44, 4], [56, 1], [92, 1], [96, 3_040_000]] as const) schema.writeUInt32BE(value, at); // prettier-ignore
  return Buffer.concat([schema, leaf(rows, 0, (values) => record(['', ...values], true))]);
}

/** A page with all rows of a table. @param from Where its header is: behind that of the database, on the first page. */
function leaf(rows: readonly SqlValues[], from: number, recordOf: (values: SqlValues) => Buffer): Buffer {
  const page = Buffer.alloc(PAGE);
  let end = PAGE;
  for (const [index, values] of rows.entries()) {
    const content = recordOf(values);
    const cell = Buffer.concat([varint(content.length), varint(index + 1), content]);
    end -= cell.length;
    page.set(cell, end);
    page.writeUInt16BE(end, from + 8 + 2 * index);
  }
  page[from] = LEAF;
  page.writeUInt16BE(rows.length, from + 3);
  page.writeUInt16BE(end, from + 5);
  if (from + 8 + 2 * rows.length > end) throw new Error(`${rows.length} rows do not fit on a page`);
  return page;
}

/** @param hasId Whether the first value is the row's number, which is stored as null. */
function record(values: SqlValues, hasId = false): Buffer {
  const types = values.map((value, at) =>
    hasId && at === 0 ? 0 : typeof value === 'number' ? LONG : textType(Buffer.byteLength(value)),
  );
  const head = Buffer.concat(types.map(varint));
  const body = values.map((value) => (typeof value === 'number' ? long(value) : Buffer.from(value)));
  return Buffer.concat([varint(head.length + 1), head, ...body]);
}

function long(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

/** A number of at most 14 bits. */
function varint(value: number): Buffer {
  return Buffer.from(value < 128 ? [value] : [(value >> 7) | 128, value & 127]);
}
