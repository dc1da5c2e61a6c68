import type { Place } from '../../file/diagnostic.js';

/** A piece of a word as it is written, before anything is expanded. */
export type Part = { readonly quoted: boolean } & (
  | { readonly kind: 'text'; readonly text: string }
  /** `$x`, `${x}`, `${x[1]}`; `index`: an expression, `@` for all elements, null for none. */
  | { readonly kind: 'variable'; readonly name: string; readonly index: string | null }
  /** `${#x[@]}`, also `${#x}`. */
  | { readonly kind: 'count'; readonly name: string }
  /** `${!x[@]}`. */
  | { readonly kind: 'indices'; readonly name: string }
  | { readonly kind: 'arithmetic'; readonly expression: string }
  /** `$(…)`. */
  | { readonly kind: 'command'; readonly source: string; readonly at: number }
  /** Another expansion, which cannot be worked out from the text alone. */
  | { readonly kind: 'odd'; readonly source: string }
);

export type Word = Place & { readonly parts: readonly Part[] };

export type Assignment = Place & {
  readonly name: string;
  readonly value: Word | readonly Word[];
};

/** Part of a script. `line` counts from 1. */
export type ScriptNode = Place & { readonly line: number } & (
    | SimpleCommand
    /** Commands that are joined by pipes. */
    | { readonly kind: 'pipe'; readonly commands: readonly (Place & { readonly line: number } & SimpleCommand)[] }
    | {
        readonly kind: 'for';
        readonly name: string;
        readonly words: readonly Word[];
        readonly body: readonly ScriptNode[];
        readonly inside: Place;
      }
    /** `for ((i = 0; i < 3; i++))` */
    | { readonly kind: 'count'; readonly head: string; readonly body: readonly ScriptNode[]; readonly inside: Place }
    /** Something that only a shell can work out: `if`, `while`, `&&`. */
    | { readonly kind: 'other'; readonly what: string }
  );

export type SimpleCommand = {
  readonly kind: 'simple';
  /** Before the command, or all of it. */
  readonly assignments: readonly Assignment[];
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
};

/** `> out.log`, with what it says. */
export type Redirect = { readonly operator: string; readonly target: Word; readonly source: string };

/** A mistake in a script, or something that cannot be read, and its place. */
export class ScriptMistake extends Error {
  override readonly name = 'ScriptMistake';
  readonly place: Place;
  readonly fix: string;

  constructor(problem: string, fix: string, place: Place) {
    super(problem);
    this.place = place;
    this.fix = fix;
  }
}

/** Does some work on a part of a script, with the place of that part in its mistakes. */
export function placedAt<Result>(place: Place, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof ScriptMistake ? new ScriptMistake(error.message, error.fix, place) : error;
  }
}

/** The text of a word without expansions; null: it has some. */
export function literalText({ parts }: Word): string | null {
  return parts.every((part) => part.kind === 'text')
    ? parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
    : null;
}
