/** An exception at the end of a Python traceback. `text`: its line without the prefix of its stream. */
export type FoundException = {
  readonly text: string;
  /** Prefix of every line of the process that wrote it, as `[rank0]: `; empty: none. */
  readonly stream: string;
  /** It follows from the exception before it in its stream, which it replaces. */
  readonly isChained: boolean;
  /** `ignored`: by Python, at a destructor or at exit. `thread`: it ended a thread, not the program. Null: neither. */
  readonly aside: 'ignored' | 'thread' | null;
};

/** What a line is in a traceback. `frame`: above the exception. `report`: what the exception says in further lines. */
export type LineRole = 'frame' | 'report' | FoundException | null;

const header = 'Traceback (most recent call last)';
const link = /^(?:During handling of the above exception|The above exception was the direct cause)/;
const asides = /\bException ignored (?:in|on)\b|\bError in (?:atexit\.|sys\.excepthook)|^--- Logging error ---/;
const threads = /^Exception in thread |\bexception was never retrieved\b/;
/** Last line of a traceback, whatever its class is called: `queue.Empty`, `KeyError: 'x'`, `RayTaskError(ValueError): …`. */
const exceptionForm = /^(?:[A-Za-z_][\w.<>]*(?:\(\w+\))?: ?(?:\S.*)?|(?=\S*[A-Z])[A-Za-z_][\w.<>]*)$/;
/** A rule around a report, as torchrun's. */
const rule = /^={20,}$/;

/** Lines of other programs among the lines of a traceback; more of them: its end was not written. */
const MOST_FOREIGN = 8;
const MOST_STREAMS = 64;
/** Lines before a header that say whose traceback it is. */
const MOST_BEFORE = 3;
const SPACE = 32;

type Phase = 'header' | 'frames' | 'box' | 'cells' | 'ended' | 'over';
type Stream = {
  /** Recognises the prefix, whatever time it contains. */
  readonly prefix: RegExp | null;
  readonly tag: string;
  phase: Phase;
  /** Spaces before the frames; null: none has been seen. */
  indent: number | null;
  foreign: number;
  isLinked: boolean;
  aside: FoundException['aside'];
  /** Class that a notebook names in the header. */
  name: string | null;
  /** Whether nothing has been written since the exception. */
  isFresh: boolean;
  isInReport: boolean;
};

/**
 * Recognises Python's tracebacks in lines of output, one line after the other: plain ones, those of exception groups, of rich and
 * of notebooks, behind any prefix that their lines share (`[rank0]: `, `(train pid=7) `, `host: `), also where several processes
 * write at the same time.
 */
export class Tracebacks {
  #streams = new Map<string, Stream>();
  #before: string[] = [];
  #next = 0;
  #newest: Stream | null = null;

  take(line: string): LineRole {
    if (line.includes(header)) return this.#begin(line);
    const role = this.#streams.size === 0 ? null : this.#inStream(line);
    this.#newest = null;
    if (role !== null && typeof role === 'object') this.#before = [];
    // Nearly all lines begin with a sign that is no space.
    else if (line.charCodeAt(0) > SPACE || /\S/.test(line)) this.#keepBefore(line);
    return role;
  }

  /** Keeps the last three lines, without a new list for each of millions. */
  #keepBefore(line: string): void {
    this.#before[this.#next] = line;
    this.#next = (this.#next + 1) % MOST_BEFORE;
  }

  #begin(line: string): LineRole {
    const { tag, ...form } = headerIn(line);
    const former = this.#streams.get(tag);
    const isLinked = former?.isLinked === true && former.phase === 'ended';
    const stream = streamOf(tag, { ...form, isLinked, aside: asideOf(this.#before) });
    this.#keep(stream);
    this.#newest = tag === '' ? null : stream;
    return 'frame';
  }

  #keep(stream: Stream): void {
    this.#streams.delete(stream.tag);
    this.#streams.set(stream.tag, stream);
    if (this.#streams.size > MOST_STREAMS) this.#streams.delete(this.#streams.keys().next().value!);
  }

  #inStream(line: string): LineRole {
    for (const stream of this.#streams.values()) {
      const length = stream.tag === '' ? 0 : prefixLength(stream, line);
      if (length > 0) return advance(stream, line.slice(length));
    }
    const newest = this.#newest;
    // What stood before the header was no prefix: a bar, or the time of a logger.
    if (newest !== null) {
      this.#streams.delete(newest.tag);
      this.#keep({ ...newest, tag: '', prefix: null });
    }
    const plain = this.#streams.get('');
    return plain === undefined ? null : advance(plain, line);
  }
}

/** The prefix before a header, and what it begins. */
function headerIn(line: string): Pick<Stream, 'tag' | 'phase' | 'name'> {
  const [, lead = ''] =
    /^(.*?)(?:[╭┌+] ?[-─━ ]+ ?|[A-Za-z_]\w* {2,})?Traceback \(most recent call last\)/.exec(line) ?? [];
  const rest = line.slice(lead.length);
  const tag = lead.replace(/\+ Exception Group $/, '| ');
  const name = /^([A-Za-z_]\w*) {2,}Traceback \(most recent call last\)\s*$/.exec(rest)?.[1] ?? null;
  if (name !== null) return { tag, name, phase: 'cells' };
  return { tag, name, phase: /^[╭┌+]/.test(rest) ? 'box' : 'header' };
}

function asideOf(before: readonly string[]): FoundException['aside'] {
  if (before.some((line) => threads.test(line))) return 'thread';
  return before.some((line) => asides.test(line)) ? 'ignored' : null;
}

function streamOf(tag: string, own: Pick<Stream, 'phase' | 'name' | 'isLinked' | 'aside'>): Stream {
  const escaped = tag.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const prefix = /\d:\d\d/.test(tag) ? new RegExp(`^${escaped.replace(/\d+/g, '\\d+')}`) : null;
  return { tag, prefix, ...own, indent: null, foreign: 0, isFresh: false, isInReport: false };
}

/** Length of the prefix of a stream in a line of it; 0: the line is another's. */
function prefixLength({ tag, prefix }: Stream, line: string): number {
  if (line.startsWith(tag)) return tag.length;
  if (line === tag.trimEnd()) return line.length;
  return prefix?.exec(line)?.[0].length ?? 0;
}

function advance(stream: Stream, text: string): LineRole {
  switch (stream.phase) {
    case 'over':
      return null;
    case 'ended':
      return afterException(stream, text);
    case 'box':
      return inBox(stream, text);
    case 'cells':
      return new RegExp(`^${stream.name}(?::|$)`).test(text) ? exceptionOf(stream, text) : 'frame';
    default:
      return inFrames(stream, text);
  }
}

function inFrames(stream: Stream, text: string): LineRole {
  if (text.trim() === '') return 'frame';
  const indent = text.search(/\S/);
  if (stream.indent === null && indent > 0) stream.indent = indent;
  stream.phase = 'frames';
  if (indent > 0 && indent >= stream.indent!) return 'frame';
  return exceptionOr(stream, text);
}

function inBox(stream: Stream, text: string): LineRole {
  if (text.trim() === '' || /^[│┃|╰└+]/.test(text)) return 'frame';
  return exceptionOr(stream, text);
}

function exceptionOr(stream: Stream, text: string): LineRole {
  if (exceptionForm.test(text.trim())) return exceptionOf(stream, text);
  stream.foreign += 1;
  if (stream.foreign > MOST_FOREIGN) stream.phase = 'over';
  return null;
}

function exceptionOf(stream: Stream, text: string): FoundException {
  const { tag, isLinked, aside } = stream;
  Object.assign(stream, {
    phase: 'ended',
    isLinked: false,
    isFresh: true,
    isInReport: false,
    foreign: 0,
    indent: null,
  });
  return { text: text.trim(), stream: tag, isChained: isLinked, aside };
}

function afterException(stream: Stream, text: string): LineRole {
  if (text.trim() === '') {
    stream.isFresh = false;
    return null;
  }
  if (link.test(text.trim())) {
    stream.isLinked = true;
    return 'report';
  }
  if (isOfReport(stream, text)) return 'report';
  if (stream.isFresh && /^\s+File ".+", line \d+/.test(text)) {
    // A remote exception (Ray): the frames of the process in which it was raised, then its own line.
    Object.assign(stream, { phase: 'frames', isLinked: true, indent: text.search(/\S/) });
    return 'frame';
  }
  stream.isFresh &&= /^\s/.test(text);
  return stream.isFresh ? 'report' : null;
}

/** Whether a line is part of a report between two rules. */
function isOfReport(stream: Stream, text: string): boolean {
  const { isFresh, isInReport } = stream;
  const isRule = rule.test(text.trim());
  if (isRule) stream.isInReport = isFresh && !isInReport;
  return isInReport || (isRule && isFresh);
}
