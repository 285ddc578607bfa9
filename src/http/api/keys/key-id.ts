import Type from 'typebox';
import { keyIdField } from '../../../accounts/key.ts';

export const KeyParams = Type.Object({
  keyId: { ...keyIdField('Identifier of the key.'), examples: ['key_3kTMd8fZq1LxW0aB'] },
});
