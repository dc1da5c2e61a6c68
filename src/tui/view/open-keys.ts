import { selectedNode, type WindowModel } from './window-model.js';

type Hint = readonly [key: string, does: string];

const leave: readonly Hint[] = [
  ['Esc', 'back'],
  ['?', 'help'],
  ['q', 'detach'],
];

/** The keys of the open screen that its pane in use makes useful. */
export function openKeys(model: WindowModel): readonly Hint[] {
  const { ui } = model;
  if (ui.screen.kind !== 'open') return leave;
  const isRun = selectedNode(model)?.kind === 'run';
  if (ui.log.seek !== null) return [['Esc', 'stop searching'], ...leave.slice(1)];
  if (ui.screen.pane === 'charts') {
    return [
      ['←→', 'cursor'],
      ['Tab', 'pane'],
      ['z', 'zoom'],
      ['m', 'metric'],
      ['x', 'x axis'],
      ['~', 'smooth'],
      ...leave,
    ];
  }
  const scroll: Hint = ['↑↓', 'scroll'];
  if (!isRun) return [scroll, ['Tab', 'pane'], ['m', 'metric'], ['K', 'kill'], ['R', 'resume'], ...leave];
  const act: readonly Hint[] = [
    ['←→', 'other run'],
    ['k', 'kill'],
    ['r', 'resume'],
  ];
  if (ui.screen.pane !== 'log') return [scroll, ['Tab', 'pane'], ...act, ...leave];
  const search: readonly Hint[] =
    ui.log.search === ''
      ? [['/', 'search']]
      : [
          ['/', 'search'],
          ['n N', 'next, previous'],
        ];
  return [scroll, ['Tab', 'pane'], ...search, ['!', 'first error'], ['w', 'wrap'], ...act, ...leave];
}
