import { wrapWithin } from '../../text/wrap.js';
import { type Binding, keyMapOf } from '../app/key-map.js';
import { stateLook, statesInOrder } from '../model/state-look.js';
import type { Command } from '../state/command.js';
import type { RunWord } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';
import { fit, type Line, span } from '../widgets/span.js';

/** What the keys are about, in the order in which a person needs it. */
const groups = ['move', 'runs', 'charts', 'log', 'view', 'window'] as const;
type Group = (typeof groups)[number];

/** The commands of each group; those of no group act on runs. */
const commandsOf = {
  move: [
    ...(['up', 'down', 'page-up', 'page-down', 'first', 'last', 'jump', 'fold', 'unfold'] as const),
    ...(['open', 'back', 'next-pane'] as const),
  ],
  charts: ['metric', 'x-axis', 'log-y', 'log-x', 'smooth', 'spread', 'clip', 'zoom-in', 'zoom-out'],
  log: ['search-next', 'search-previous', 'first-error', 'wrap'],
  view: [
    ...(['filter', 'group', 'sort', 'reverse-sort', 'columns', 'views', 'compare', 'baseline'] as const),
    ...(['gpus', 'sweep', 'table'] as const),
  ],
  window: ['palette', 'help', 'repaint', 'suspend', 'leave'],
} satisfies Record<Exclude<Group, 'runs'>, readonly Command[]>;

const groupOfCommand: ReadonlyMap<Command, Group> = new Map(
  Object.entries(commandsOf).flatMap(([group, commands]) =>
    commands.map((command) => [command as Command, group as Group] as const),
  ),
);

function groupOf({ command }: Binding): Group {
  return groupOfCommand.get(command) ?? 'runs';
}

/** What a person most likely asks about, where they are. */
function groupHere({ screen }: UiState): Group {
  if (screen.kind === 'open') return screen.pane === 'log' ? 'log' : screen.pane === 'charts' ? 'charts' : 'runs';
  return screen.kind === 'compare' || screen.kind === 'sweep' ? 'view' : 'runs';
}

const keyWidth = 9;

/**
 * The keys by what they are about, those of the open screen first, and the signs of the states; with something typed only the
 * keys that it stands for. Lines of at most `width` columns.
 */
export function helpLines(ui: UiState, typed: string, width: number): Line[] {
  const here = groupHere(ui);
  const bindings = keyMapOf(ui.keys).filter((binding) => isFound(binding, typed));
  const sections = [here, ...groups.filter((group) => group !== here)].flatMap((group): Line[] => {
    const own = bindings.filter((binding) => groupOf(binding) === group);
    return own.length === 0 ? [] : [[span(group, 'title')], ...own.flatMap((each) => row(each, width)), []];
  });
  return typed === '' ? [...sections, ...legend(width)] : sections.slice(0, -1);
}

/** A key by its own name, or by words of what it does. */
function isFound({ shown, keys, command, help }: Binding, typed: string): boolean {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return true;
  if ([...typed.trim()].length === 1) return shown === typed.trim() || keys.includes(typed.trim());
  const text = `${shown} ${command} ${help}`.toLowerCase();
  return wanted.split(/\s+/).every((word) => text.includes(word));
}

function row({ shown, help }: Binding, width: number): Line[] {
  return wrapWithin(help, Math.max(8, width - keyWidth), 4).map((part, index): Line => [
    span(fit(index === 0 ? ` ${shown}` : '', keyWidth), 'key'),
    span(part),
  ]);
}

const signWidth = 12;

function legend(width: number): Line[] {
  const perLine = Math.max(1, Math.floor(width / signWidth));
  const lines = Math.ceil(statesInOrder.length / perLine);
  return [
    [span('states', 'title')],
    ...Array.from({ length: lines }, (_, at) => signs(statesInOrder.slice(at * perLine, (at + 1) * perLine))),
  ];
}

function signs(states: readonly RunWord[]): Line {
  return states.flatMap((state) => [
    span(` ${stateLook[state].glyph} `, stateLook[state].tone),
    span(fit(state, signWidth - 3), 'dim'),
  ]);
}
