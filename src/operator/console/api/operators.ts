import Type from 'typebox';
import { dayMs } from '../../../clock.ts';
import { operatorNamePattern, operatorNameRule, roles } from '../../../operator-role.ts';
import { enumField, wholeNumberField } from '../../../schema.ts';
import { tokenMs } from '../../sessions.ts';
import { answers } from '../answers.ts';
import { operation, pageRows } from '../operation.ts';

const operatorFields = {
  name: Type.String({ maxLength: 100, pattern: operatorNamePattern, rule: operatorNameRule }),
  role: enumField(roles, 'What the operator may do.'),
};

const operatorFilters = { before: Type.Optional(operatorFields.name) };
const sessionFilters = {
  before: Type.Optional(Type.String({ maxLength: 60, pattern: '^\\d{1,15}\\.\\w{1,40}$' })),
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
    { summary: 'List the operators', fields: operatorFilters, answer: answers.operators },
    ({ before = '' }, { operators }) => operators.listPage(pageRows, before),
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
    {
      summary: 'List the sessions and tokens of operators',
      fields: sessionFilters,
      answer: answers.sessions,
    },
    async ({ before }, { sessions, clock }) => {
      const [createdAtMs = '', id = ''] = before?.split('.') ?? [];
      const first = before === undefined ? null : { createdAtMs: Number(createdAtMs), id };
      const { items, next } = await sessions.listPage(pageRows, first);
      return { items, next: next && `${next.createdAtMs}.${next.id}`, nowMs: clock() };
    },
  ),

  operation(
    'endSession',
    'DELETE /sessions/{session}',
    'admin',
    { summary: 'End a session or a token' },
    ({ session }, { sessions }) => sessions.end(session),
  ),
];
