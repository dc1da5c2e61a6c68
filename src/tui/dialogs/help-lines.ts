import { wrapWithin } from '../../text/wrap.js';
import { keysOn } from '../screens/key-map.js';
import { screens } from '../screens/registry.js';
import { type Binding, keyGroups } from '../keys/key-row.js';
import { stateLook, statesInOrder } from '../model/state-look.js';
import type { RunWord } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';
import { fit, type Line, span } from '../surface/span.js';

const keyWidth = 9;

/**
 * The keys of the screen by topic, most relevant first, and the symbols of states. If text is typed, only the matching keys. Lines
 * have at most `width` columns.
 */
export function helpLines(ui: UiState, typed: string, width: number): Line[] {
  const here = screens[ui.screen.kind].keys.about?.(ui) ?? 'runs';
  const bindings = keysOn(ui.screen.kind, ui.keys).filter((binding) => isFound(binding, typed));
  const sections = [here, ...keyGroups.filter((group) => group !== here)].flatMap((group): Line[] => {
    const own = bindings.filter((binding) => binding.group === group);
    return own.length === 0 ? [] : [[span(group, 'title')], ...own.flatMap((each) => row(each, width)), []];
  });
  return typed === '' ? [...sections, ...legend(width)] : sections.slice(0, -1);
}

/** Whether a binding matches: by its key, or by words of its description. */
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
