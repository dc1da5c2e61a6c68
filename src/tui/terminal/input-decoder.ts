const ESC = '\u001b';
const pasteBegin = '\u001b[200~';
const pasteEnd = '\u001b[201~';
/** Maximum length of a paste. A longer one is not text for a prompt, and its end may never come. */
const mostPasted = 100_000;
/** Maximum length of a sequence, longer than any that terminals send. */
const longestSequence = 4096;

/** Names of keys by the last character of their control sequence, or by its number before `~`. */
const finals: Record<string, string> = {
  ...{ A: 'up', B: 'down', C: 'right', D: 'left', H: 'home', F: 'end', Z: 'shift-tab' },
};
const numbers: Record<string, string> = {
  ...{ 1: 'home', 4: 'end', 7: 'home', 8: 'end', 3: 'backspace', 5: 'pageup', 6: 'pagedown' },
};
/** Matches control sequences; function keys of the Linux console; strings up to their end. */
const control = /^\u001b\[(\[.|([0-?]*)[ -/]*([@-Z\\-~]))/;
const unfinishedControl = /^\u001b\[(\[|[0-?]*[ -/]*)$/;
const shift3 = /^\u001bO(.)/;
const string = /^\u001b[\]P^_X][^\u0007\u001b]*(\u0007|\u001b\\)/;
const unfinishedString = /^\u001b[\]P^_X][^\u0007\u001b]*\u001b?$/;
/**
 * Matches answers of kitty's graphics protocol and reports of background colour, pixel sizes, number of colours and kind of
 * terminal.
 */
const graphicsAnswer = /^\u001b(_G|\]11;|\[[46];\d+;\d+t$|\[\?[\d;]*[cS]$)/;
/** Matches the rest of a mouse report or paste mark whose escape character was taken for the key. */
const headless = /^\[(<\d|20[01]~)/;

/**
 * Decodes what a terminal sends, in pieces of any size, into keys, pastes and clicks.
 *
 * A piece of a sequence is never taken for keys: a click that arrives in two reads must not kill a run. Only a lone escape
 * character can be either the key or the start of a sequence; `settle`, called after a while, decides for the key.
 */
export class InputDecoder {
  #rest = '';
  /** Text pasted so far; null: no paste is under way. */
  #pasted: string | null = null;
  #hasSettled = false;

  /** Whether a sequence or paste has begun but not ended. */
  get isWaiting(): boolean {
    return this.#rest === ESC;
  }

  push(text: string): InputEvent[] {
    const events: InputEvent[] = [];
    this.#rest += this.#hasSettled && headless.test(text) ? ESC + text : text;
    this.#hasSettled = false;
    while (this.#rest !== '') {
      const before = this.#rest.length;
      const event = this.#pasted === null ? this.#next() : this.#morePaste();
      if (event !== null) events.push(event);
      else if (this.#rest.length === before) break;
    }
    return events;
  }

  /** Called when nothing more has come for a while. */
  settle(): InputEvent[] {
    if (!this.isWaiting || this.#pasted !== null) return [];
    this.#rest = '';
    this.#hasSettled = true;
    return [{ kind: 'key', name: 'escape' }];
  }

  /** The next event; null: the sequence is unfinished (nothing is taken then) or has no meaning. */
  #next(): InputEvent | null {
    if (!this.#rest.startsWith(ESC)) return this.#character();
    if (this.#rest.startsWith(pasteBegin)) {
      this.#take(pasteBegin.length);
      this.#pasted = '';
      return null;
    }
    return this.#sequence();
  }

  #character(): InputEvent | null {
    const name = characterName(this.#take(String.fromCodePoint(this.#rest.codePointAt(0)!).length));
    return name === '' ? null : { kind: 'key', name };
  }

  #sequence(): InputEvent | null {
    const found = control.exec(this.#rest);
    if (found !== null) {
      const codes = this.#take(found[0].length);
      if (graphicsAnswer.test(codes)) return { kind: 'answer', codes };
      return controlEvent(found[2] ?? '', found[3] ?? '');
    }
    const key = shift3.exec(this.#rest);
    if (key !== null) {
      this.#take(key[0].length);
      return named(finals[key[1]!]);
    }
    const answer = string.exec(this.#rest);
    if (answer !== null) {
      const codes = this.#take(answer[0].length);
      return graphicsAnswer.test(codes) ? { kind: 'answer', codes } : null;
    }
    return this.#isUnfinished() ? null : this.#escape();
  }

  #isUnfinished(): boolean {
    if (this.#rest.length > longestSequence) return false;
    const rest = this.#rest;
    return rest === ESC || rest === `${ESC}O` || unfinishedControl.test(rest) || unfinishedString.test(rest);
  }

  /** Escape before a character is that character with Alt; otherwise it is the Escape key. */
  #escape(): InputEvent {
    this.#take(1);
    if (this.#rest.startsWith(ESC)) return { kind: 'key', name: 'escape' };
    const event = this.#character();
    return { kind: 'key', name: event?.kind === 'key' ? `alt-${event.name}` : 'escape' };
  }

  /** Continues a paste. Its end mark may also arrive in two pieces. */
  #morePaste(): InputEvent | null {
    const end = this.#rest.indexOf(pasteEnd);
    if (end >= 0) {
      const text = this.#pasted! + this.#take(end);
      this.#take(pasteEnd.length);
      this.#pasted = null;
      return { kind: 'paste', text: text.slice(0, mostPasted) };
    }
    const begun = this.#rest.lastIndexOf(ESC);
    const isMark = begun >= 0 && pasteEnd.startsWith(this.#rest.slice(begun));
    const text = this.#take(isMark ? begun : this.#rest.length);
    if (this.#pasted!.length < mostPasted) this.#pasted += text;
    return null;
  }

  #take(count: number): string {
    const taken = this.#rest.slice(0, count);
    this.#rest = this.#rest.slice(count);
    return taken;
  }
}

function controlEvent(parameters: string, final: string): InputEvent | null {
  if (parameters.startsWith('<')) return mouseEvent(parameters, final);
  if (final === 'u') return parameters.startsWith('?') ? { kind: 'keyboard' } : named(unambiguousName(parameters));
  if (final === '~') return named(numbers[parameters.split(';')[0]!]);
  return named(finals[final]);
}

function named(name: string | undefined): InputEvent | null {
  return name === undefined ? null : { kind: 'key', name };
}

/** Codes of a pointer movement with the left button and with no button down. */
const dragged = 0 + 32;
const moved = 3 + 32;

/** Decodes `<button;column;row` with `M` for a press or `m` for a release. Only the left button and the wheel have a meaning. */
function mouseEvent(parameters: string, final: string): InputEvent | null {
  const [, code, x, y] = /^<(\d+);(\d+);(\d+)$/.exec(parameters) ?? [];
  if (y === undefined || final !== 'M') return null;
  const place = { column: Number(x) - 1, row: Number(y) - 1 };
  // Bits for Shift, Alt and Control are removed.
  const button = Number(code) & ~0b1_1100;
  if (button === 0) return { kind: 'click', ...place };
  if (button === dragged) return { kind: 'drag', ...place };
  if (button === moved) return { kind: 'move', ...place };
  if (button === 64) return { kind: 'wheel', way: 'up', ...place };
  return button === 65 ? { kind: 'wheel', way: 'down', ...place } : null;
}

/** The name of the key that sends a character; empty if there is none. */
function characterName(character: string): string {
  const code = character.codePointAt(0)!;
  if (character === ' ') return 'space';
  if (character === '\t') return 'tab';
  if (character === '\r' || character === '\n') return 'enter';
  if (code === 0x7f || code === 0x08) return 'backspace';
  if (code > 0 && code < 0x1b) return `ctrl-${String.fromCharCode(code + 0x60)}`;
  return code < 0x20 ? '' : character;
}

/** Key names by code in kitty's keyboard protocol; a letter has the code of its lower case. */
const byCode: Record<number, string> = { 9: 'tab', 13: 'enter', 27: 'escape', 32: 'space', 127: 'backspace' };
/** Modifier bits; the protocol sends one more than their sum. */
const modifiers = { shift: 1, alt: 2, ctrl: 4 };
/** Code range for keys without a character (keypad, media keys, modifiers alone). */
const privateUse = [0xe000, 0xf8ff] as const;

/**
 * The name of an unambiguously reported key: `27` is Escape and nothing else, `105;5` is Ctrl-I and not Tab.
 *
 * @param parameters `code:alternatives;modifiers:event;text`, of kitty's keyboard protocol with flag 1 (no releases).
 */
function unambiguousName(parameters: string): string | undefined {
  const [codes = '', modified = '1'] = parameters.split(';');
  const code = Number(codes.split(':')[0]);
  const bits = Number(modified.split(':')[0]) - 1;
  if (!isCharacter(code) || !(bits >= 0)) return undefined;
  const special = byCode[code];
  return special === undefined ? characterKey(String.fromCodePoint(code), bits) : specialKey(special, bits);
}

function specialKey(name: string, bits: number): string {
  if (name === 'escape') return name;
  if (name === 'tab' && (bits & modifiers.shift) !== 0) return 'shift-tab';
  return (bits & modifiers.alt) === 0 ? name : `alt-${name}`;
}

function characterKey(character: string, bits: number): string {
  if ((bits & modifiers.ctrl) !== 0) return `ctrl-${character}`;
  const name = (bits & modifiers.shift) === 0 ? character : character.toUpperCase();
  return (bits & modifiers.alt) === 0 ? name : `alt-${name}`;
}

function isCharacter(code: number): boolean {
  if (!Number.isInteger(code) || code <= 0 || code > 0x10ffff) return false;
  return code < privateUse[0] || code > privateUse[1];
}

/**
 * How long a lone escape character may be the start of a sequence, in ms: longer than a slow line needs, shorter than users notice.
 */
const patience = 50;

/**
 * Reads user input from a terminal in raw mode.
 *
 * Does not use Ink's input, which takes each read for one key and so turns a paste, a mouse report or a sequence split over two
 * reads into keys that nobody pressed.
 *
 * @returns A function that stops reading.
 */
export function listen(stdin: NodeJS.ReadStream, listener: InputListener): () => void {
  const decoder = new InputDecoder();
  const tell = (event: InputEvent): void => tellOf(event, listener);
  let timer: NodeJS.Timeout | null = null;
  const hear = (text: string): void => {
    if (timer !== null) clearTimeout(timer);
    decoder.push(text).forEach(tell);
    timer = decoder.isWaiting ? setTimeout(() => decoder.settle().forEach(tell), patience) : null;
  };
  // A read may split a character.
  stdin.setEncoding('utf8');
  stdin.on('data', hear);
  stdin.ref();
  stdin.resume();
  return () => {
    if (timer !== null) clearTimeout(timer);
    stdin.off('data', hear);
    stdin.pause();
    stdin.unref();
  };
}

type Cell = { readonly column: number; readonly row: number };

/** What is called for each kind of input, see `InputEvent`. */
type InputListener = {
  readonly key: (name: string) => void;
  readonly paste: (text: string) => void;
  readonly click: (cell: Cell) => void;
  readonly drag: (cell: Cell) => void;
  readonly move: (cell: Cell) => void;
  readonly wheel: (way: 'up' | 'down') => void;
  readonly keyboard: () => void;
  readonly answer: (codes: string) => void;
};

function tellOf(event: InputEvent, listener: InputListener): void {
  switch (event.kind) {
    case 'key':
      return listener.key(event.name);
    case 'paste':
      return listener.paste(event.text);
    case 'click':
    case 'drag':
    case 'move':
      return listener[event.kind](event);
    case 'wheel':
      return listener.wheel(event.way);
    case 'keyboard':
      return listener.keyboard();
    case 'answer':
      return listener.answer(event.codes);
  }
}

/** User input reported by a terminal. Columns and rows count from 0 at the top left. */
export type InputEvent =
  | { readonly kind: 'key'; readonly name: string }
  /** Pasted text in one piece; it may contain anything, including line ends. */
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'click'; readonly column: number; readonly row: number }
  /** The pointer has moved to another cell with the left button down. */
  | { readonly kind: 'drag'; readonly column: number; readonly row: number }
  /** The pointer has moved to another cell with no button down. */
  | { readonly kind: 'move'; readonly column: number; readonly row: number }
  | { readonly kind: 'wheel'; readonly way: 'up' | 'down'; readonly column: number; readonly row: number }
  /**
   * The answer to `keyboardQuestion`: the terminal can distinguish keys that otherwise send the same code (kitty's keyboard
   * protocol).
   */
  | { readonly kind: 'keyboard' }
  /** The answer to a question of `GraphicsFinder`, as received. */
  | { readonly kind: 'answer'; readonly codes: string };

/** Minimum time between two pointer positions, in ms: one frame of a screen. */
const movePause = 16;

/** Reports the pointer's position at most once per frame, since it crosses a hundred cells on its way over the screen. */
export class Pointer {
  readonly #tell: (place: Cell) => void;
  #place: Cell | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(tell: (place: Cell) => void) {
    this.#tell = tell;
  }

  hear(place: Cell): void {
    this.#place = place;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#tell(this.#place!);
    }, movePause);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** Maximum time between the two clicks of a double click, in ms. */
const doubleClick = 400;

/** Recognizes double clicks on rows. */
export class Clicks {
  #last: { row: number; at: number } | null = null;

  /** Whether this click completes a double click. Call once per click. `now`: Unix ms. */
  isSecond(row: number, now: number): boolean {
    const isSecond = this.#last?.row === row && now - this.#last.at < doubleClick;
    this.#last = isSecond ? null : { row, at: now };
    return isSecond;
  }
}
