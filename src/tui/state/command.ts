import type { KeyedVerb } from '../../protocol/run-verbs.js';

/** What the user can ask of the window. Each command has one row in the key map. */
export type Command =
  MoveCommand | ActCommand | ListCommand | ChartCommand | LogCommand | CompareCommand | ScreenCommand | WindowCommand;

export type MoveCommand =
  | 'up'
  | 'down'
  | 'page-up'
  | 'page-down'
  | 'first'
  | 'last'
  | 'jump'
  | 'previous-branch'
  | 'next-branch'
  | 'fold'
  | 'unfold'
  | 'left'
  | 'right'
  | 'open'
  | 'back'
  | 'next-pane';

/** A run verb with a key, for one run or the marked ones, or for the group. */
export type VerbCommand = KeyedVerb | `${KeyedVerb}-group`;

/** Commands for runs or the machine they run on. */
export type ActCommand =
  | VerbCommand
  | 'type'
  | 'extend'
  | 'clone'
  | 'more-slots'
  | 'fewer-slots'
  | 'drain'
  | 'copy'
  | 'shell'
  | 'terminal'
  | 'palette';

export type ListCommand =
  'mark' | 'mark-all' | 'star' | 'filter' | 'failures' | 'group' | 'sort' | 'reverse-sort' | 'columns' | 'views';

export type ChartCommand = 'metric' | 'x-axis' | 'log-y' | 'smooth' | 'chart' | 'ranks' | 'alike';

export type LogCommand = 'search-next' | 'search-previous' | 'first-error' | 'wrap';

export type CompareCommand = 'compare' | 'baseline';

export type ScreenCommand = 'gpus' | 'logs' | 'sweep' | 'parameters' | 'show' | 'help';

export type WindowCommand = 'pane-smaller' | 'pane-larger' | 'repaint' | 'suspend' | 'leave';
