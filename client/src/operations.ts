import { operations } from './generated.ts';

export { operations };

/** The name of an operation in the description of the service. */
export type OperationName = keyof typeof operations;
