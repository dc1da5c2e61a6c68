import { describe, expect, it } from 'vitest';
import { presentValue } from '../../src/base/present-value.js';

describe('the value of a metric at its end', () => {
  it.each<{ what: string; values: number[]; value: number | undefined }>([
    { what: 'its last number', values: [1, 2], value: 2 },
    { what: 'its last number where most batches have none', values: [1, NaN, NaN, NaN, 2, NaN, NaN], value: 2 },
    { what: 'its last number after a gap somewhat longer than others', values: [1, NaN, 2, NaN, NaN], value: 2 },
    { what: 'NaN where it became NaN', values: [1, 2, 3, NaN], value: NaN },
    { what: 'NaN where a short gap came before', values: [1, NaN, 3, NaN, NaN, NaN], value: NaN },
    { what: 'NaN where it began with NaN, too', values: [NaN, NaN, 3, NaN], value: NaN },
    { what: 'NaN without any number', values: [NaN, NaN], value: NaN },
    { what: 'an infinity', values: [1, NaN, Infinity], value: Infinity },
    { what: 'none without values', values: [], value: undefined },
  ])('is $what', ({ values, value }) => expect(presentValue(values)).toBe(value));
});
