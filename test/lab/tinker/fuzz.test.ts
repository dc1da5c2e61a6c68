import { expect, it } from 'vitest';
import { tempDirectory } from '../temp-directory.js';
import { fuzz, politeStatuses } from './fuzz.js';
import { example, runningService, withModel } from './running-service.js';

const token = 'tml-the-secret-of-the-fuzz';

it('no malformed request ends the service, counts as a bug, or changes its results', { tags: ['long'] }, async () => {
  const service = await runningService(tempDirectory(), { environment: { MEMRL_SERVE_TOKEN: token }, key: token });
  try {
    const { model } = await withModel(service);
    const input = { data: [example([5, 6, 7, 8])], loss_fn: 'cross_entropy' };
    const scores = async () => (await service.result('forward', { model_id: model, forward_input: input })).body;
    const before = await scores();
    const outcomes = await fuzz({ url: service.url, token, model }, 2000, 1);
    expect(Object.keys(outcomes).filter((status) => !['cut', ...politeStatuses.map(String)].includes(status))).toEqual(
      [],
    );
    expect(Object.keys(outcomes)).toEqual(
      expect.arrayContaining(['200', '400', '401', '403', '404', '410', '415', '422']),
    );
    expect(await scores()).toEqual(before);
    expect(service.lines.filter((line) => line.startsWith('bug'))).toEqual([]);
  } finally {
    await service.close();
  }
});
