/**
 * Tables of an SQLite database, read from its pages. Format: sqlite.org/fileformat2.html, sections 1.6, 2.1 and 2.6.
 *
 * It works on pages, not files. Indices, virtual tables and tables WITHOUT ROWID are not read.
 */

/** The pages of a database, numbered from 1. `usable`: number of content bytes in each. */
export type Pages = {
  /** Throws `DamagedDatabase` if the page does not exist. */
  readonly page: (number: number) => Buffer;
  readonly usable: number;
  readonly count: number;
};

/** The pages are inconsistent or incomplete: the file was truncated, or is being copied. */
export class DamagedDatabase extends Error {
  override readonly name = 'DamagedDatabase';
}

type SqlValue = number | string | Buffer | null;

export type SqlTable = { readonly name: string; readonly root: number; readonly columns: readonly string[] };
/** `values`: in the order of the columns; columns that were added later may be missing. Null: the row is larger than `LONGEST`. */
export type SqlRow = { readonly id: number; readonly values: readonly SqlValue[] | null };

/** Size limit of a row in bytes; larger ones hold no numbers. */
export const LONGEST = 4 << 20;

/** The tables of a database, usually oldest first. Names are in lower case, as SQLite ignores case. */
export function* tablesOf(pages: Pages): Generator<SqlTable> {
  for (const { values } of rowsAfter(pages, 1, -Infinity)) {
    const [type, name, , root, sql] = values ?? [];
    if (type === 'table' && typeof name === 'string' && typeof root === 'number' && typeof sql === 'string')
      yield { name: name.toLowerCase(), root, columns: columnsIn(sql) };
  }
}

/** The rows of the table at `root` whose ids are larger than `after`, in the order of their ids. */
export function* rowsAfter(pages: Pages, root: number, after: number): Generator<SqlRow> {
  // A stack of pages. A tree contains each page once: a repeated one means damage.
  const next = [root];
  let left = pages.count;
  let last = after;
  while (next.length > 0) {
    if (left-- <= 0) throw new DamagedDatabase('its pages go round in a circle');
    const number = next.pop()!;
    const page = pages.page(number);
    const start = number === 1 ? FILE_HEAD : 0;
    if (page[start] === kind.interior) next.push(...childrenAfter(page, start, after).reverse());
    else if (page[start] === kind.leaf)
      for (const row of rowsOfLeaf(pages, page, start, after)) {
        if (row.id <= last) throw new DamagedDatabase('its rows are not in order');
        last = row.id;
        yield row;
      }
    else throw new DamagedDatabase(`page ${number} is none of a table`);
  }
}

/** Size of the file header on page 1, before the page header. */
const FILE_HEAD = 100;
const kind = { interior: 5, leaf: 13 };
const pageAt = { cells: 3, lastChild: 8 };
const headOf = { interior: 12, leaf: 8 };

/** The offsets of the page's cells. */
function cellsOf(page: Buffer, start: number, head: number): number[] {
  const count = page.readUInt16BE(start + pageAt.cells);
  if (start + head + 2 * count > page.length) throw new DamagedDatabase('a page has more cells than it has room for');
  return Array.from({ length: count }, (_, index) => page.readUInt16BE(start + head + 2 * index));
}

function childrenAfter(page: Buffer, start: number, after: number): number[] {
  const children: number[] = [];
  for (const at of cellsOf(page, start, headOf.interior)) {
    const bytes = new Cell(page, at);
    const child = bytes.word();
    // The key is the largest id below that child.
    if (bytes.varint() > after) children.push(child);
  }
  return [...children, page.readUInt32BE(start + pageAt.lastChild)];
}

function* rowsOfLeaf(pages: Pages, page: Buffer, start: number, after: number): Generator<SqlRow> {
  for (const at of cellsOf(page, start, headOf.leaf)) {
    const cell = new Cell(page, at);
    const size = cell.varint();
    const id = cell.varint();
    if (id <= after) continue;
    yield { id, values: size > LONGEST ? null : valuesOf(payloadOf(pages, page, cell.at, size)) };
  }
}

/** The bytes of a row: what does not fit on the page is on a linked list of overflow pages. */
function payloadOf(pages: Pages, page: Buffer, at: number, size: number): Buffer {
  const { usable } = pages;
  const most = usable - 35;
  if (size <= most) return part(page, at, size);
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const wanted = least + ((size - least) % (usable - 4));
  const local = wanted <= most ? wanted : least;
  const parts = [part(page, at, local)];
  let next = part(page, at + local, 4).readUInt32BE(0);
  for (let left = size - local; left > 0; left -= usable - 4) {
    const overflow = pages.page(next);
    next = overflow.readUInt32BE(0);
    parts.push(part(overflow, 4, Math.min(left, usable - 4)));
  }
  return Buffer.concat(parts);
}

function part(page: Buffer, at: number, length: number): Buffer {
  if (at + length > page.length) throw new DamagedDatabase('a row goes beyond its page');
  return page.subarray(at, at + length);
}

/** The values of a record, which are preceded by their types. */
function valuesOf(record: Buffer): SqlValue[] {
  const cell = new Cell(record, 0);
  const end = cell.varint();
  const types: number[] = [];
  while (cell.at < end) types.push(cell.varint());
  let at = end;
  return types.map((type) => {
    const length = lengthOf(type);
    const bytes = part(record, at, length);
    at += length;
    return valueOf(type, bytes);
  });
}

/** Size in bytes of a value by its type. */
function lengthOf(type: number): number {
  return type >= 12 ? Math.floor((type - 12) / 2) : [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][type]!;
}

function valueOf(type: number, bytes: Buffer): SqlValue {
  if (type >= 12) return type % 2 === 0 ? bytes : bytes.toString('utf8');
  if (type === 7) return bytes.readDoubleBE(0);
  if (type === 6) return Number(bytes.readBigInt64BE(0));
  if (type >= 8) return type - 8;
  return type === 0 ? null : bytes.readIntBE(0, bytes.length);
}

/** Reads values one after the other. */
class Cell {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  word(): number {
    this.at += 4;
    return part(this.#bytes, this.at - 4, 4).readUInt32BE(0);
  }

  /** A variable-length integer, rounded beyond 2⁵³. */
  varint(): number {
    let value = 0n;
    for (let index = 0; index < 9; index++) {
      const byte = this.#bytes[this.at++];
      if (byte === undefined) throw new DamagedDatabase('a number goes beyond its page');
      if (index === 8) return Number(BigInt.asIntN(64, (value << 8n) | BigInt(byte)));
      value = (value << 7n) | BigInt(byte & 127);
      if (byte < 128) break;
    }
    return Number(value);
  }
}

const constraint = /^(constraint|primary|unique|check|foreign)\b/i;

/** The column names in a CREATE TABLE statement. */
function columnsIn(sql: string): string[] {
  const inner = sql.slice(sql.indexOf('(') + 1, sql.lastIndexOf(')'));
  return splitAtCommas(inner)
    .map((definition) => definition.trim())
    .filter((definition) => !constraint.test(definition))
    .map((definition) => /^(?:"([^"]*)"|`([^`]*)`|\[([^\]]*)\]|(\S+))/.exec(definition)?.slice(1).find(Boolean) ?? '')
    .map((name) => name.toLowerCase());
}

/** Splits at commas that are neither in brackets nor in quotes. */
function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { 0: token, index } of text.matchAll(/'[^']*'|"[^"]*"|[(),]/g)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    else if (token === ',' && depth === 0) {
      parts.push(text.slice(from, index));
      from = index + 1;
    }
  }
  return [...parts, text.slice(from)];
}
