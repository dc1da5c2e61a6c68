import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../src/base/user-error.js';
import { ClientMessage, encode, LONGEST_LINE, MessageReader, ServerMessage } from '../../src/protocol/message.js';
import { SharedParts } from '../../src/spec/plan-text.js';
import { plan } from '../supervisor/testbed.js';

const threeRuns = plan('/runs', 's', [{}, { grace: 7 }, { argv: ['echo', 'ünïcödé 🙂\n'] }]).runs;

const messages: ClientMessage[] = [
  { type: 'hello', version: 1 },
  {
    type: 'submit',
    request: 1,
    plan: plan('/runs', 's', [{}, { argv: ['echo', 'ünïcödé 🙂\n'] }]),
    environment: { A: 'ß' },
    slots: {},
    more: false,
  },
  { type: 'page', request: 1, page: new SharedParts().pageOf(threeRuns), of: 3 },
  { type: 'command', request: 2, command: { verb: 'stop-sweep', sweep: 's' } },
];

describe('messages on the socket', () => {
  it('arrive whole however the bytes are cut', () => {
    const bytes = Buffer.from(messages.map(encode).join(''));
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const reader = new MessageReader(ClientMessage);
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const parts = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(parts.flatMap((part) => reader.push(part))).toEqual(messages);
      }),
    );
  });

  it.each([
    'garbage',
    '{"type":"unheard-of"}',
    '{"type":"command","request":1,"command":{"verb":"kill","ids":["../../etc"]}}',
    '{"type":"command","request":1,"command":{"verb":"rm","ids":[]}}',
    '{"type":"submit","request":1,"plan":{},"environment":{},"slots":{},"more":false}',
    '[]',
    '',
  ])('are refused when they are none: %s', (line) => {
    const read = () => new MessageReader(ClientMessage).push(Buffer.from(`${line}\n`));
    expect(read).toThrow(UserError);
    expect(read).toThrow('does not understand');
  });

  it('are refused when they have no end', () => {
    const reader = new MessageReader(ServerMessage);
    const chunk = Buffer.alloc(LONGEST_LINE / 4, 'x');
    const push = () => {
      for (let n = 0; n < 5; n++) reader.push(chunk);
    };
    expect(push).toThrow('a line of more than');
  });

  it('never make the reader crash with anything but a clear error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          new MessageReader(ClientMessage).push(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
        }
      }),
    );
  });
});
