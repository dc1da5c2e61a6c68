/**
 * Tables of an SQLite database, read from its pages. Format: sqlite.org/fileformat2.html, sections 1.6, 2.1 and 2.6.
 *
 * It works on pages, not files. Of indices, those over one column of texts are read; virtual tables and tables WITHOUT ROWID are not.
 */
import { withLazy } from '../../base/lazy.js';

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

export type SqlValue = number | string | Buffer | null;

/** `indices`: root pages of the indices over one column alone, by that column. */
export type SqlTable = {
  readonly root: number;
  readonly columns: readonly string[];
  readonly indices: ReadonlyMap<string, number>;
};
/** `values`: in the order of the columns; columns that were added later may be missing. Null: the row is larger than `LONGEST`. */
export type SqlRow = { readonly id: number; readonly values: readonly SqlValue[] | null };

/** Size limit of a row in bytes; larger ones hold no numbers. */
const LONGEST = 4 << 20;

/** The tables of a database by name, usually oldest first. All names are in lower case, as SQLite ignores case. */
export function tablesOf(pages: Pages): ReadonlyMap<string, SqlTable> {
  const tables = new Map<string, SqlTable & { readonly sql: string; readonly indices: Map<string, number> }>();
  for (const { values } of rowsAfter(pages, 1, -Infinity)) {
    const [type, name, of, root, sql] = values ?? [];
    if (typeof name !== 'string' || typeof root !== 'number') continue;
    if (type === 'table') {
      const known = { root, sql: String(sql), indices: new Map<string, number>() };
      tables.set(name.toLowerCase(), withLazy(known, { columns: () => columnsIn(known.sql) }));
    }
    const table = type === 'index' ? tables.get(String(of).toLowerCase()) : undefined;
    const column = table && indexedColumn(typeof sql === 'string' ? sql : keyOf(table.sql, name));
    if (column !== undefined) table!.indices.set(column, root);
  }
  return tables;
}

/** The rows of the table at `root` whose ids are larger than `after`, in the order of their ids. */
export function* rowsAfter(pages: Pages, root: number, after: number): Generator<SqlRow> {
  let last = after;
  for (const { page, cells } of leavesAfter(pages, root, after))
    for (let place = firstIn(cells, (at) => idAt(page, at) > after); place < cells.length; place++) {
      const row = rowAt(pages, page, cells[place]!);
      if (row.id <= last) throw new DamagedDatabase('its rows are not in order');
      last = row.id;
      yield row;
    }
}

/**
 * The rows after an id in which a column is this text, in the order of their ids. By the index of the column, if there is one, so
 * that the others cost nothing.
 */
export function* rowsWith(pages: Pages, table: SqlTable, wanted: Wanted): Generator<SqlRow> {
  const { column, text, after = -Infinity } = wanted;
  const index = table.indices.get(column);
  if (index !== undefined) {
    yield* rowsOf(pages, table, idsWith(pages, index, { text, after, depth: 0 }));
    return;
  }
  const place = table.columns.indexOf(column);
  for (const row of rowsAfter(pages, table.root, after)) if (row.values?.[place] === text) yield row;
}

type Wanted = { readonly column: string; readonly text: string; readonly after?: number };

/** The rows of these ids, which rise. */
function* rowsOf(pages: Pages, table: SqlTable, ids: Iterable<number>): Generator<SqlRow> {
  let rows: Iterator<SqlRow, unknown> | null = null;
  let at = -Infinity;
  for (const id of ids) {
    // Rows that lie close together are passed one by one, which costs less than going down the tree again.
    if (rows === null || id > at + NEAR) rows = rowsAfter(pages, table.root, id - 1);
    for (at = -Infinity; at < id;) {
      const row = rows.next();
      if (row.done === true) return;
      at = row.value.id;
      if (at === id) yield row.value;
    }
  }
}

/** Rows between two of one text that are passed one by one. */
const NEAR = 4;

/** The ids in an index behind this text that are larger than `after`, in their order. */
function* idsWith(
  pages: Pages,
  number: number,
  wanted: { readonly text: string; readonly after: number; readonly depth: number },
): Generator<number> {
  if (wanted.depth > DEEPEST) throw new DamagedDatabase('its pages go round in a circle');
  const page = pages.page(number);
  const isLeaf = page[0] === kind.indexLeaf;
  if (!isLeaf && page[0] !== kind.indexInterior) throw new DamagedDatabase(`page ${number} is none of an index`);
  const cells = cellsOf(page, 0, isLeaf ? headOf.leaf : headOf.interior);
  const entryAt = (at: number) => entryOf(pages, page, isLeaf ? at : at + CHILD);
  const first = firstIn(cells, (at) => isBehind(entryAt(at), wanted));
  for (let place = first; place <= cells.length; place++) {
    const child = place < cells.length ? cells[place]! : pageAt.lastChild;
    if (!isLeaf) yield* idsWith(pages, page.readUInt32BE(child), { ...wanted, depth: wanted.depth + 1 });
    if (place === cells.length) return;
    const [text, id] = entryAt(cells[place]!);
    if (text !== wanted.text) return;
    yield id;
  }
}

/** The text and the id of an entry of an index over one column. The text of another kind of value is null. */
function entryOf(pages: Pages, page: Buffer, at: number): readonly [text: string | null, id: number] {
  const cell = new Cell(page, at);
  const size = cell.varint();
  const most = Math.floor(((pages.usable - 12) * 64) / 255) - 23;
  if (size > most) throw new DamagedDatabase('an entry of an index is too long');
  const [text, id] = valuesOf(part(page, cell.at, size));
  return [typeof text === 'string' ? text : null, Number(id)];
}

/** Whether an entry comes after this text and id. What is no text comes before all texts, but for bytes, which are not looked for. */
function isBehind([text, id]: readonly [string | null, number], wanted: { text: string; after: number }): boolean {
  return text !== null && (text > wanted.text || (text === wanted.text && id > wanted.after));
}

/** The place of the first cell of which this is true, as it is of all behind it. */
function firstIn(cells: readonly number[], isTrue: (at: number) => boolean): number {
  let [from, to] = [0, cells.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isTrue(cells[middle]!)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The leaves of a table that may have ids larger than `after`. */
function* leavesAfter(
  pages: Pages,
  root: number,
  after: number,
): Generator<{ readonly page: Buffer; readonly cells: readonly number[] }> {
  // A stack of pages. A tree contains each page once: a repeated one means damage.
  const next = [root];
  let left = pages.count;
  while (next.length > 0) {
    if (left-- <= 0) throw new DamagedDatabase('its pages go round in a circle');
    const number = next.pop()!;
    const page = pages.page(number);
    const start = number === 1 ? FILE_HEAD : 0;
    if (page[start] === kind.interior) next.push(...childrenAfter(page, start, after).reverse());
    else if (page[start] === kind.leaf) yield { page, cells: cellsOf(page, start, headOf.leaf) };
    else throw new DamagedDatabase(`page ${number} is none of a table`);
  }
}

/** Size of the file header on page 1, before the page header. */
const FILE_HEAD = 100;
const kind = { interior: 5, leaf: 13, indexInterior: 2, indexLeaf: 10 };
/** Size of the number of a child page, before the key. */
const CHILD = 4;
/** Levels of an index: more of them would have more pages than a database can. */
const DEEPEST = 32;
const pageAt = { cells: 3, lastChild: 8 };
const headOf = { interior: 12, leaf: 8 };

/** The offsets of the page's cells. */
function cellsOf(page: Buffer, start: number, head: number): number[] {
  const count = page.readUInt16BE(start + pageAt.cells);
  if (start + head + 2 * count > page.length) throw new DamagedDatabase('a page has more cells than it has room for');
  return Array.from({ length: count }, (_, index) => page.readUInt16BE(start + head + 2 * index));
}

function childrenAfter(page: Buffer, start: number, after: number): number[] {
  const cells = cellsOf(page, start, headOf.interior);
  // The key is the largest id below a child.
  const first = firstIn(cells, (at) => new Cell(page, at + CHILD).varint() > after);
  const children = cells.slice(first).map((at) => new Cell(page, at).word());
  return [...children, page.readUInt32BE(start + pageAt.lastChild)];
}

function idAt(page: Buffer, at: number): number {
  const cell = new Cell(page, at);
  cell.varint();
  return cell.varint();
}

function rowAt(pages: Pages, page: Buffer, at: number): SqlRow {
  const cell = new Cell(page, at);
  const size = cell.varint();
  const id = cell.varint();
  return { id, values: size > LONGEST ? null : valuesOf(payloadOf(pages, page, cell.at, size)) };
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
    let value = 0;
    for (let index = 0; index < EXACT; index++) {
      const byte = this.#byte();
      value = value * 128 + (byte & 127);
      if (byte < 128) return value;
    }
    return this.#longVarint(BigInt(value));
  }

  /** The rest of one that may be longer than a number is exact. */
  #longVarint(begun: bigint): number {
    const eighth = this.#byte();
    const value = (begun << 7n) | BigInt(eighth & 127);
    return Number(eighth < 128 ? value : BigInt.asIntN(64, (value << 8n) | BigInt(this.#byte())));
  }

  #byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new DamagedDatabase('a number goes beyond its page');
    return byte;
  }
}

/** Bytes of a variable-length integer that a number has exactly. */
const EXACT = 7;

/** The column of an index over one column, by the statement that made it; undefined: it is of several, or only of some rows. */
function indexedColumn(sql: string | undefined): string | undefined {
  return /(?:\bon\s+\S+|\bkey|\bunique)\s*\(\s*["`[]?(\w+)["`\]]?\s*\)\s*$/i.exec(sql ?? '')?.[1]?.toLowerCase();
}

/** The key for which SQLite makes an index of its own, where a table has only one. */
function keyOf(sql: string, index: string): string | undefined {
  const keys = sql.match(/\b(?:primary\s+key|unique)\s*\([^()]*\)/gi) ?? [];
  return keys.length === 1 && index.endsWith('_1') ? keys[0] : undefined;
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
