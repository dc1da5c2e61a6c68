import { describe, expect, it } from 'vitest';
import type { KeyContext } from '../../../../src/tui/keys/key-context.js';
import { press } from '../../../../src/tui/dialogs/key-stack.js';
import { initialUi, type UiState } from '../../../../src/tui/state/ui-state.js';
import { aSituation } from '../../a-situation.js';

const metrics = ['train/loss', 'train/lr', 'eval/loss', 'eval/acc', 'eval/err', 'step'];
const at: KeyContext = aSituation({
  metric: 'train/lr',
  wall: () => ({ metrics, firstOf: new Map([['eval/acc', 'eval/loss']]) }),
  own: { focus: { width: 100, height: 2, length: metrics.length }, log: null },
});
const onWall: UiState = { ...initialUi, screen: { kind: 'run', pane: 'charts', offset: 0 } };

function after(keys: readonly string[], ui = onWall): UiState {
  return keys.reduce((now, key) => press(now, key, at).ui, ui);
}

describe('the keys of the charts pane', () => {
  it.each([
    { keys: ['down'], marked: 'eval/loss' },
    { keys: ['up'], marked: 'train/loss' },
    { keys: ['pagedown'], marked: 'eval/err' },
    { keys: ['end'], marked: 'step' },
    { keys: ['end', 'pageup'], marked: 'eval/loss' },
    { keys: ['down', '=', 'down'], marked: 'eval/acc' },
    { keys: ['down', '=', 'down', '=', 'down'], marked: 'eval/err' },
    { keys: ['home'], marked: 'train/loss' },
  ])('$keys from the metric of the window mark $marked', ({ keys, marked }) => {
    expect(after(keys).wall.at).toBe(marked);
  });

  it('say where the charts end', () => {
    expect(after(['end', 'down']).note?.text).toBe('This is the last chart.');
    expect(after(['home', 'up']).note?.text).toBe('This is the first chart.');
  });

  it('give one chart the pane and take it back, before Esc leaves', () => {
    expect(after(['enter']).wall.isZoomed).toBe(true);
    expect(after(['enter', 'enter']).wall.isZoomed).toBe(false);
    const back = after(['enter', 'escape']);
    expect([back.wall.isZoomed, back.screen.kind]).toEqual([false, 'run']);
    expect(after(['escape'], back).screen.kind).toBe('jobs');
  });

  it('change the y axis of the marked chart alone, and that of all from another pane', () => {
    const own = after(['l', 'down', 'l', 'l']);
    expect(own.chart).toMatchObject({ isLogY: null, ownLogY: { 'train/lr': true, 'eval/loss': false } });
    expect(own.note?.text).toBe('y axis of eval/loss: linear.');
    const all = after(['l'], { ...own, screen: { kind: 'run', pane: 'log', offset: 0 } });
    expect(all.chart).toMatchObject({ isLogY: true, ownLogY: {} });
  });

  it('filter the metrics while their name is typed, and keep the filter or take it back', () => {
    const typed = after(['/', 'a', 'c']);
    expect([typed.dialog.kind, typed.wall.filter]).toEqual(['wall-filter', 'ac']);
    expect(after(['enter'], typed)).toMatchObject({ dialog: { kind: 'none' }, wall: { filter: 'ac' } });
    expect(after(['escape'], typed)).toMatchObject({ dialog: { kind: 'none' }, wall: { filter: '' } });
    const cleared = after(['enter', 'escape'], typed);
    expect([cleared.wall.filter, cleared.screen.kind]).toEqual(['', 'run']);
  });

  it('open what shows the same, and say where there is none', () => {
    expect(after(['=']).note?.text).toBe('No other metric shows the same as train/lr.');
    expect(after(['down', '=']).wall).toMatchObject({ opened: ['eval/loss'], at: 'eval/loss' });
    expect(after(['down', '=', '=']).wall.opened).toEqual([]);
    expect(after(['=', '='], { ...onWall, screen: { kind: 'run', pane: 'log', offset: 0 } }).note?.text).toBe(
      'The charts are another pane; Tab goes to it.',
    );
  });

  it('refuse where no chart is left', () => {
    const none = after(['/', 'z', 'z', 'enter']);
    expect(after(['down'], none).note?.text).toBe('There is no chart to go to.');
    expect(after(['enter'], none).note?.text).toBe('There is no chart to zoom.');
    expect(after(['='], none).note?.text).toBe('There is no chart to open.');
  });
});
