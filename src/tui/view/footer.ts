import { keyMap } from '../key-map.js';
import { ends, fitLine, type Line, lineWidth, onGround, span } from './span.js';
import { type WindowModel } from './window-model.js';

/** Two lines: what was said last or is being asked; the keys. */
export function footer(model: WindowModel, width: number): Line[] {
  return [messageLine(model, width), keysLine(model, width)];
}

/** The question, the refusal, the prompt, or else what the list is showing. */
export function messageLine(model: WindowModel, width: number): Line {
  const { dialog, note } = model.ui;
  if (dialog.kind === 'confirm') return onGround(fitLine([span(` ${dialog.question}`, 'strong')], width), 'alarm');
  if (dialog.kind === 'filter') return filterPrompt(model, dialog.text, width);
  if (note !== null) return fitLine([span(` ${note.text}`, note.tone)], width);
  return fitLine(listState(model), width);
}

function filterPrompt(model: WindowModel, text: string, width: number): Line {
  const shown = model.rows.filter(({ kind }) => kind === 'run').length;
  const problem = model.ui.note === null ? `${shown} runs shown · Enter keeps, Esc drops ` : `${model.ui.note.text} `;
  const prompt = [span(' / ', 'title'), span(text, 'strong'), span('▏', 'accent')];
  return ends(prompt, [span(problem, model.ui.note === null ? 'dim' : 'warn')], width);
}

function listState({ ui, metric }: WindowModel): Line {
  const parts = [
    ui.filter === '' ? null : `filter ${ui.filter}`,
    ui.sort === 'file order' ? null : `order ${ui.sort}`,
    metric === null ? null : `metric ${metric}`,
  ];
  return [span(` ${parts.filter((part) => part !== null).join(' · ')}`, 'faint')];
}

/** As many keys as fit, in the order of the table; `q` and `?` always. */
export function keysLine(model: WindowModel, width: number): Line {
  const { dialog, screen } = model.ui;
  if (dialog.kind === 'filter')
    return fitLine(
      hints([
        ['Enter', 'keep'],
        ['Esc', 'drop'],
        ['Ctrl-U', 'clear'],
      ]),
      width,
    );
  if (dialog.kind !== 'none')
    return fitLine(
      hints([
        ['↑↓', 'move'],
        ['Enter', 'choose'],
        ['Esc', 'close'],
      ]),
      width,
    );
  if (screen.kind === 'open') {
    const keys: Hint[] = [
      ['↑↓', 'log'],
      ['←→', 'other run'],
      ['Esc', 'back'],
      ['k', 'kill'],
      ['r', 'resume'],
      ['m', 'metric'],
      ['q', 'detach'],
    ];
    return fitLine(hints(keys), width);
  }
  const bound = keyMap.flatMap(({ shown, short, command }): Hint[] =>
    short === null || (command === 'table' && model.table === null) ? [] : [[shown, short]],
  );
  return fitLine(fitting([['↑↓', 'move'], ['←→', 'fold'], ...bound], width), width);
}

type Hint = readonly [key: string, does: string];

function hints(list: readonly Hint[]): Line {
  return list.flatMap(([key, does]) => [span(` ${key}`, 'key'), span(` ${does} `, 'dim')]);
}

/** Drops hints from the middle until the rest fits: the last two (`?` and `q`) lead out of everything. */
function fitting(list: readonly Hint[], width: number): Line {
  const line = hints(list);
  if (lineWidth(line) <= width || list.length <= 2) return line;
  return fitting([...list.slice(0, -3), ...list.slice(-2)], width);
}
