import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/base/user-error.js';
import { executorNamed } from '../../src/executors/registry.js';

describe('the kinds of executors', () => {
  it('include this machine', () => {
    expect(executorNamed('local')).toBeTypeOf('function');
  });

  it.each(['slrum', 'toString'])('do not include %s, and say which there are', (name) => {
    expect(() => executorNamed(name)).toThrow(UserError);
    expect(() => executorNamed(name)).toThrow(`There is no executor called ${name}.`);
  });
});
