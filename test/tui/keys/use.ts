import type { Command } from '../../../src/tui/state/command.js';

/** Something to be seen on a screen; `home`: the first screen. */
export type Sight = RegExp | ((screen: string, home: string) => boolean);

/** A key at work: where it is pressed, what is seen after it, and the way back to the first screen. */
export type Use = {
  /** Where, in words, if not on the first screen. */
  readonly where?: string;
  /** Keys that lead there from the first screen, as in the default preset; what begins with `"` is typed. */
  readonly from?: readonly string[];
  /** What tells that one is there. */
  readonly at?: Sight;
  /** What is drawn over the screen by somebody else, before the key. */
  readonly spoiledBy?: string;
  /** What is seen after each press of the key, and not before it. */
  readonly sees: readonly Sight[] | ((key: string) => readonly Sight[]);
  /** Another key after that, and what is seen then. */
  readonly answer?: { readonly key: string; readonly sees: Sight };
  readonly back?: readonly string[];
};

/** What each command is used for: one of a screen's own in the folder of its tests, `screens/<name>/uses.ts`, the others here. */
export type Uses = Partial<Record<Command, readonly Use[]>>;

export function isSeen(sight: Sight, screen: string, home: string): boolean {
  return sight instanceof RegExp ? sight.test(screen) : sight(screen, home);
}

export function not(sight: RegExp): Sight {
  return (screen) => !sight.test(screen);
}

/** The first screen, whatever was said on its last line but one. */
export const isHome: Sight = (screen, home) => withoutMessage(screen) === withoutMessage(home);

function withoutMessage(screen: string): string {
  return screen
    .split('\n')
    .filter((_, row, rows) => row !== rows.length - 2)
    .join('\n');
}
