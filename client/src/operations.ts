import { operations } from './generated.ts';

export { operations };

/** An operation id of the OpenAPI description, such as `listPets`. */
export type OperationName = keyof typeof operations;
