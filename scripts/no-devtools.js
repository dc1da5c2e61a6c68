/** Stands in for react-devtools-core, which Ink imports but only uses when DEV=true. */
export const initialize = () => {};
export const connectToDevTools = () => {};
export default { initialize, connectToDevTools };
