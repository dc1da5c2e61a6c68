import type { KeyedVerb } from '../../protocol/run-verbs.js';

/** What the user can ask of the window, by the screen that has the key first. A screen declares its own in its folder. */
export interface Commands {
  readonly every:
    | ('up' | 'down' | 'page-up' | 'page-down' | 'first' | 'last' | 'left' | 'right' | 'open' | 'back' | 'next-pane')
    | ('extend' | 'more-slots' | 'fewer-slots' | 'palette' | 'filter' | 'show' | 'help')
    | ('pane-smaller' | 'pane-larger' | 'repaint' | 'suspend' | 'leave')
    | (VerbCommand | ChartCommand);
}
/** Each command has one row in the key map. */
export type Command = Commands[keyof Commands];

/** A run verb with a key, for one run or the marked ones, or for the group. */
export type VerbCommand = KeyedVerb | `${KeyedVerb}-group`;

export type ChartCommand = 'metric' | 'x-axis' | 'log-y' | 'smooth' | 'chart';
