import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyContext } from '../../../src/tui/keys/key-context.js';
import { chosenOf, matchesOf } from '../../../src/tui/dialogs/menu-dialog.js';
import type { GroupBy } from '../../../src/tui/state/list-choice.js';
import { initialUi, type Screen, type UiState } from '../../../src/tui/state/ui-state.js';
import { press } from '../../../src/tui/dialogs/key-stack.js';
import { aSituation } from '../situations.js';
import { play, runs } from './play.js';

const groupBy: readonly GroupBy[] = [
  ...[{ kind: 'group' }, { kind: 'state' }, { kind: 'gpu' }].map((by) => by as GroupBy),
  { kind: 'parameter', key: 'seed' },
];
const compared: Screen = { kind: 'compare', subjects: [], at: 0, top: 0, left: 0 };
const over: Partial<KeyContext> = {
  metrics: ['step', 'test/loss', 'train/loss', 'env/reward'],
  metric: 'step',
  charts: 1,
  xChoices: ['step', 'time', 'env/reward'].map((key) => ({ key, label: key, about: '', refusal: null })),
  groupChoices: () => groupBy.map((by) => ({ by, groups: 2 })),
};
const dialogOf = (keys: readonly string[]) => play(0, keys, over).ui.dialog;

describe('letters find a row in every menu', () => {
  it('metric: Enter takes what matches, not what is first', () => {
    expect(play(0, ['m', '"loss', 'enter'], over).ui).toMatchObject({ metric: 'test/loss', dialog: { kind: 'none' } });
    expect(play(0, ['m', '"rew', 'enter'], over).ui.metric).toBe('env/reward');
    expect(play(0, ['m', '"loss', 'down', 'enter'], over).ui.metric).toBe('train/loss');
  });

  it('x axis', () => {
    expect(play(0, ['x', '"rew', 'enter'], over).ui.chart.xKey).toBe('env/reward');
  });

  it('group by: Enter for the first level, Space for the second', () => {
    expect(play(0, ['g', '"gpu', 'enter'], over).ui.grouping).toEqual([{ kind: 'gpu' }]);
    const { ui } = play(0, ['g', '"see', 'space'], over);
    expect(ui.grouping).toEqual([{ kind: 'group' }, { kind: 'parameter', key: 'seed' }]);
    expect(ui.dialog).toMatchObject({ kind: 'grouping', typed: '', index: 3 });
  });

  it('columns: s and x are letters there; Enter shows what was typed for and stays', () => {
    const { ui } = play(0, ['C', '"exit', 'enter'], over);
    expect(ui.columns).toContain('exit');
    expect(ui.dialog).toMatchObject({ kind: 'columns', typed: '' });
    expect(play(0, ['C', '"test/l', 'space'], over).ui.columns).toContain('metric test/loss');
    expect(play(0, ['C', '"slo', 'ctrl-s'], over).ui.sort.by).toBe('slot');
    expect(play(0, ['C', 'enter'], over).ui.dialog.kind).toBe('none');
  });

  it('columns: what only programs declare is among them where it varies, and the list can be sorted by it', () => {
    const declared = runs.map((run, at) => ({ ...run, declared: { warmup: 10 * at, optimiser: 'adam' } }));
    const { ui } = play(0, ['C', '"warmup', 'space', 'ctrl-s', 'escape'], { ...over, runs: declared });
    expect([ui.columns?.at(-1), ui.sort.by]).toEqual(['parameter warmup', 'parameter warmup']);
    expect(play(0, ['C', '"optimiser', 'space'], { ...over, runs: declared }).ui.columns).toBeNull();
  });

  it('columns keep their order while only some of them are seen', () => {
    expect(play(0, ['C', '"slot', 'left'], over).ui).toMatchObject({ columns: null, note: { tone: 'warn' } });
  });

  it('views: a view is found by its name, saved with Ctrl-S, deleted with Ctrl-X', () => {
    const save = (name: string) => ['v', 'ctrl-s', `"${name}`, 'enter', 'escape'];
    const both = ['s', ...save('extra'), 's', ...save('slow')];
    expect(play(0, [...both, 'v', '"ext', 'enter'], over).ui.sort.by).toBe('state');
    expect(play(0, [...both, 'v', '"ext', 'ctrl-x'], over).ui.views.map(({ name }) => name)).toEqual(['slow']);
  });

  it('axes of the heatmap', () => {
    const ui: UiState = {
      ...initialUi,
      screen: compared,
      compare: { ...initialUi.compare, axes: { across: 'N', down: null } },
      dialog: { kind: 'axes', index: 0, typed: '', keys: ['N', 'seed', 'reward'] },
    };
    const at: KeyContext = { ...aSituation(runs, ui), ...over };
    const typed = ['r', 'e', 'w'].reduce((now, key) => press(now, key, at).ui, ui);
    expect(press(typed, 'enter', at).ui.compare.axes).toEqual({ across: 'reward', down: null });
    expect(press(typed, 'space', at).ui.compare.axes).toEqual({ across: 'N', down: 'reward' });
  });

  it('j, k and q are letters there as well, in both presets', () => {
    expect(dialogOf(['m', '"jkq'])).toMatchObject({ kind: 'metrics', typed: 'jkq' });
    const vim = { ...initialUi, keys: 'vim' as const };
    const at: KeyContext = { ...aSituation(runs, vim), ...over };
    const { ui } = ['m', 'j', 'k', 'G'].reduce((pressed, key) => press(pressed.ui, key, at), { ui: vim } as {
      ui: typeof initialUi;
    });
    expect(ui.dialog).toMatchObject({ kind: 'metrics', typed: 'jkG' });
  });
});

describe('what was typed', () => {
  it('is edited with Backspace, and the first match is under the cursor again', () => {
    expect(dialogOf(['m', '"lox', 'backspace'])).toMatchObject({ typed: 'lo', index: 0 });
    expect(dialogOf(['m', '"loss', 'down', 'backspace'])).toMatchObject({ typed: 'los', index: 0 });
  });

  it('is cleared by the first Esc, which leaves the cursor on what it found; the second closes', () => {
    expect(dialogOf(['m', '"rew', 'escape'])).toEqual({ kind: 'metrics', typed: '', index: 3 });
    expect(dialogOf(['m', '"rew', 'escape', 'escape'])).toEqual({ kind: 'none' });
    expect(play(0, ['m', '"rew', 'escape', 'escape'], over).ui.metric).toBeNull();
  });

  it('that matches nothing takes nothing', () => {
    const { ui } = play(0, ['m', '"xyz', 'enter'], over);
    expect(ui).toMatchObject({ metric: null, dialog: { kind: 'metrics', typed: 'xyz' } });
    expect(ui.note?.text).toBe('Nothing here matches xyz; Esc clears it.');
  });

  it('never points beyond what matches, whatever is pressed', () => {
    const keys = [
      'down',
      'up',
      'end',
      'home',
      'pagedown',
      'l',
      'o',
      's',
      'x',
      'backspace',
      'ctrl-u',
      'escape',
      'space',
    ];
    const choices = { items: over.metrics!, textOf: (key: string) => key };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...keys), { maxLength: 12 }), (pressed) => {
        const dialog = dialogOf(['m', ...pressed]);
        if (dialog.kind !== 'metrics') return;
        const hasMatches = matchesOf(choices, dialog).length > 0;
        expect(chosenOf(choices, dialog) !== undefined).toBe(hasMatches);
      }),
    );
  });
});
