import type { InputEvent } from './input-event.js';
import { characterName, unambiguousName } from './key-names.js';

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
