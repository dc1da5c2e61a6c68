import { describe, expect, it } from 'vitest';
import { declaredFields, shownDeclared } from '../../src/analysis/declared-parameters.js';
import type { Parameters } from '../../src/base/scalar.js';
import { redactShapes } from '../../src/text/redaction.js';

const declared = (parameters: Parameters) => ({ parameters, name: 'own', tags: ['b'], note: 'of the program' });
const beside = (planned: Parameters, parameters: Parameters) =>
  shownDeclared(declared(parameters), { name: 'own', parameters: planned }, redactShapes);

describe('what a program declares beside the plan', () => {
  it.each<{ planned: Parameters[string]; said: Parameters[string]; isOther: boolean }>([
    { planned: '1e-3', said: 0.001, isOther: false },
    { planned: true, said: 'True', isOther: false },
    { planned: null, said: 'None', isOther: false },
    { planned: [64, 64], said: [64, 64], isOther: false },
    { planned: 'data/x', said: '/home/me/data/x', isOther: false },
    { planned: '${sweep_dir}/base', said: '/runs/s/base', isOther: false },
    { planned: '${a}/x/${b}.pt', said: '/runs/x/y.pt', isOther: false },
    { planned: '${sweep_dir}/base', said: '/runs/s/other', isOther: true },
    { planned: '${a}xx', said: 'ax', isOther: true },
    { planned: 'gns', said: ['gns'], isOther: false },
    { planned: 'gns,entropy', said: ['gns', 'entropy'], isOther: false },
    { planned: 'gns', said: ['gns', 'entropy'], isOther: true },
    { planned: 0.1, said: 10.1, isOther: true },
    { planned: 0.1, said: 0.2, isOther: true },
    { planned: 'sgd', said: 'adam', isOther: true },
    { planned: [64, 64], said: [64, 32], isOther: true },
  ])('$planned, and the program says $said: another value? $isOther', ({ planned, said, isOther }) => {
    const { parameters, differing } = beside({ p: planned }, { p: said, q: 1 });
    expect(parameters).toEqual({ q: 1 });
    expect(differing !== null).toBe(isOther);
  });

  it('hides secrets, and says little of many differences', () => {
    const planned = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, 1]));
    const said = Object.fromEntries(Object.keys(planned).map((name) => [name, 2]));
    const { parameters, differing } = beside(planned, { ...said, hub_token: 'hf_abcdefghijklmnopqrstuvwxyz12345678' });
    expect(parameters).toEqual({ hub_token: '***' });
    expect(differing).toBe('its program says a 2 (planned: 1), b 2 (planned: 1), c 2 (planned: 1) and 2 more');
  });

  it('has its tags beside those of a person, whose note wins', () => {
    const shown = beside({}, {});
    expect(declaredFields(shown, { starred: true, tags: ['a'], note: 'mine' })).toEqual({
      annotation: { starred: true, tags: ['a', 'b'], note: 'mine' },
    });
    expect(declaredFields(shown, null).annotation).toEqual({ starred: false, tags: ['b'], note: 'of the program' });
  });
});
