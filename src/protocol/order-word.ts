/** The word of the command line that an order follows (`host-order.ts`). */
export const ORDER_WORD = '__host';
