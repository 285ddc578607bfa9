import Type from 'typebox';
import { dayMs } from '../../../clock.ts';
import { operatorNamePattern, operatorNameRule, roles } from '../../../operator-role.ts';
import { enumField, wholeNumberField } from '../../../schema.ts';
import { tokenMs } from '../../sessions.ts';
import { answers } from '../answers.ts';
import { operation } from '../operation.ts';

const operatorFields = {
  name: Type.String({ pattern: operatorNamePattern, rule: operatorNameRule }),
  role: enumField(roles, 'What the operator may do.'),
};

const tokenFields = {
  days: Type.Optional(
    wholeNumberField('For how many days the token is valid.', { minimum: 1, maximum: 3_650 }),
  ),
};

export const operatorOperations = [
  operation(
    'listOperators',
    'GET /operators',
    'reader',
    { summary: 'List the operators', answer: answers.operators },
    async (_, { operators }) => ({ items: await operators.list(), next: null }),
  ),

  operation(
    'addOperator',
    'POST /operators',
    'admin',
    { summary: 'Add an operator', fields: operatorFields },
    ({ name, role }, { operators }) => operators.add(name, role),
  ),

  operation(
    'removeOperator',
    'DELETE /operators/{operator}',
    'admin',
    { summary: 'Remove an operator, and end its sessions and tokens' },
    ({ operator }, { operators }) => operators.remove(operator),
  ),

  operation(
    'makeToken',
    'POST /operators/{operator}/tokens',
    'admin',
    {
      summary: "Make a token of an operator for the operator's API",
      fields: tokenFields,
      answer: answers.token,
    },
    ({ operator, days }, { sessions }) =>
      sessions.makeToken(operator, days === undefined ? tokenMs : Number(days) * dayMs),
  ),

  operation(
    'listSessions',
    'GET /sessions',
    'reader',
    { summary: 'List the sessions and tokens of operators', answer: answers.sessions },
    async (_, { sessions, clock }) => ({ items: await sessions.list(), next: null, nowMs: clock() }),
  ),

  operation(
    'endSession',
    'DELETE /sessions/{session}',
    'admin',
    { summary: 'End a session or a token' },
    ({ session }, { sessions }) => sessions.end(session),
  ),
];
