import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readForwardBackwardOutput,
  readForwardBackwardRequest,
  readSampleResponse,
  writeForwardBackwardOutput,
  writeForwardBackwardRequest,
  writeSampleResponse,
} from '../../../src/lab/tinker/protocol/messages.js';

const int32s = fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 20 });
const floats = fc.array(fc.float({ noNaN: true }), { maxLength: 20 }).map((values) => Float32Array.from(values));
const requests = fc.record({
  modelId: fc.string(),
  seqId: fc.option(fc.nat()),
  data: fc.array(
    fc.record({
      tokens: int32s.map((values) => Int32Array.from(values)),
      inputs: floats.map((values) => new Map([['weights', { values, shape: [values.length] }]])),
    }),
    { maxLength: 5 },
  ),
  lossFn: fc.string(),
  config: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.double({ noNaN: true })),
  forwardOnly: fc.boolean(),
});

describe('messages', () => {
  it('of a forward and backward pass survive a round trip', () => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(readForwardBackwardRequest(writeForwardBackwardRequest(request))).toEqual({
          ...request,
          config: { ...request.config },
        });
      }),
    );
  });

  it('of results survive a round trip', () => {
    const outputs = fc.record({ logprobs: fc.array(floats, { maxLength: 4 }), loss: fc.double({ noNaN: true }) });
    fc.assert(
      fc.property(outputs, int32s, fc.constantFrom('stop', 'length'), ({ logprobs, loss }, tokens, stopReason) => {
        const output = { logprobs, metrics: { 'loss:sum': loss } };
        expect(readForwardBackwardOutput(writeForwardBackwardOutput(output))).toEqual(output);
        const sequence = {
          stopReason,
          tokens: Int32Array.from(tokens),
          logprobs: new Float32Array(tokens.length),
          topLogprobs: null,
        };
        const response = { sequences: [sequence], promptLogprobs: null, topPromptLogprobs: null };
        expect(readSampleResponse(writeSampleResponse(response))).toEqual(response);
      }),
    );
  });

  it('that are damaged are refused or read as others, without hanging or growing', () => {
    const damaged = fc.tuple(requests, fc.nat(), fc.nat({ max: 255 }), fc.nat());
    fc.assert(
      fc.property(damaged, ([request, at, byte, cut]) => {
        const bytes = writeForwardBackwardRequest(request);
        bytes[at % bytes.length] = byte;
        let read = 0;
        try {
          const { data } = readForwardBackwardRequest(bytes.subarray(0, 1 + (cut % bytes.length)));
          read = data.reduce((sum, { tokens }) => sum + tokens.byteLength, 0);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
        expect(read).toBeLessThanOrEqual(bytes.length);
      }),
      { numRuns: 3000 },
    );
  });
});
