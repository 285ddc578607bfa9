import { html } from 'htm/preact';
import { h } from 'preact';
import { useActs } from './acts.ts';
import { type AnswerOf, callApi, type QueryOf } from './api.ts';
import { ActDialog, type Closing, useDialog } from './dialog.ts';
import { Choice, Field, type Form } from './fields.ts';
import { formatTime } from './format.ts';
import { PageHead, Pager, showLoaded } from './parts.ts';
import { toNumber } from './plan-fields.ts';
import { useResource } from './resource.ts';
import { linkTo } from './routing.ts';
import { SecretDialog } from './secret-dialog.ts';
import { useDeclared } from './session.ts';
import { type Column, Table } from './table.ts';

type Operator = AnswerOf<'GET /operators'>['items'][number];
type MadeToken = AnswerOf<'POST /operators/{operator}/tokens'>;
type Listed = AnswerOf<'GET /sessions'>['items'][number];

const parts = ['operators'];

/** `sessions` is where the page of the sessions begins. */
type OperatorsQuery = QueryOf<'GET /operators'> & { readonly sessions?: string };

/** The people and programs that operate the store, and their sessions and tokens. */
export function Operators({ query }: { readonly query: OperatorsQuery }) {
  const operators = useResource('GET /operators', { before: query.before });
  const sessions = useResource('GET /sessions', { before: query.sessions });
  const dialog = useDialog();
  const act = useActs();
  const onDone = () => {
    operators.reload();
    sessions.reload();
  };
  const showToken = (made: MadeToken) => dialog.open((own) => h(TokenDialog, { ...own, made, onDone }));
  const makeToken = (operator: Operator) =>
    dialog.open((own) => h(MakeTokenDialog, { ...own, operator, onDone: showToken }));
  const add = () => dialog.open((own) => h(AddDialog, { ...own, onDone }));
  const remove = (operator: Operator) => dialog.open((own) => h(RemoveDialog, { ...own, operator, onDone }));
  const end = (session: Listed) => dialog.open((own) => h(EndDialog, { ...own, session, onDone }));
  const rows = ({ items }: AnswerOf<'GET /operators'>) => items.map((item) => ({ id: item.name, ...item }));
  return html`
    <${PageHead} title="Operators">
      ${act('POST /operators', { label: 'Add an operator', kind: 'main', onClick: add })}
    <//>
    ${showLoaded(
      operators,
      (data) => html`
        <${Table}
          caption="Operators"
          columns=${listColumns(act, { makeToken, remove })}
          rows=${rows(data)}
          empty="There is no operator yet. A person who has the shell of the service is an admin."
        />
        <${Pager} parts=${parts} query=${query} next=${data.next} />
        <h2>Sessions and tokens</h2>
        ${showLoaded(
          sessions,
          ({ items, next }) =>
            html`<${Table}
              caption="Sessions and tokens"
              columns=${sessionColumns(act, end)}
              rows=${items}
              empty="Nobody is signed in."
            />
            ${
              next !== null &&
              html`<nav class="pager" aria-label="Pages of sessions">
              <a href=${linkTo(parts, { ...query, sessions: next })}>Older sessions</a>
            </nav>`
            }`,
        )}
      `,
    )}
    ${dialog.shown}
  `;
}

type OperatorRow = Operator & { readonly id: string };

const showName = (name: string) =>
  html`<a class="text" href=${linkTo(['audit'], { actor: name })}>${name}</a>`;

type MakeAct = ReturnType<typeof useActs>;

/** What the buttons of an operator open. */
type OperatorActs = Readonly<Record<'makeToken' | 'remove', (operator: Operator) => void>>;

function listColumns(act: MakeAct, { makeToken, remove }: OperatorActs): readonly Column<OperatorRow>[] {
  return [
    { title: 'Name', by: 'name', cell: ({ name }) => showName(name) },
    { title: 'Role', by: 'role', cell: ({ role }) => role },
    { title: 'Sessions', isNumber: true, by: 'sessions', cell: ({ sessions }) => sessions },
    { title: 'Tokens', isNumber: true, by: 'tokens', cell: ({ tokens }) => tokens },
    {
      title: 'Added',
      isTime: true,
      by: 'createdAtMs',
      cell: (row) => formatTime(row.createdAtMs),
    },
    {
      title: 'Actions',
      needs: ['POST /operators/{operator}/tokens', 'DELETE /operators/{operator}'],
      cell: (row) => html`<div class="row-acts">
        ${act('POST /operators/{operator}/tokens', {
          label: 'New token',
          name: `New token for ${row.name}`,
          onClick: () => makeToken(row),
        })}
        ${act('DELETE /operators/{operator}', {
          label: 'Remove',
          name: `Remove ${row.name}`,
          onClick: () => remove(row),
        })}
      </div>`,
    },
  ];
}

function sessionColumns(act: MakeAct, end: (session: Listed) => void): readonly Column<Listed>[] {
  return [
    { title: 'Name', by: 'name', cell: ({ name }) => showName(name) },
    { title: 'Role', by: 'role', cell: ({ role }) => role ?? '–' },
    { title: 'Kind', by: 'kind', cell: ({ kind }) => kind },
    { title: 'Id', cell: ({ id }) => html`<code>${id}</code>` },
    {
      title: 'Began',
      isTime: true,
      by: 'createdAtMs',
      cell: (row) => formatTime(row.createdAtMs),
    },
    {
      title: 'Expires',
      isTime: true,
      by: 'expiresAtMs',
      cell: (row) => formatTime(row.expiresAtMs),
    },
    {
      title: 'Actions',
      needs: ['DELETE /sessions/{session}'],
      cell: (row) =>
        act('DELETE /sessions/{session}', { label: 'End', name: `End ${row.id}`, onClick: () => end(row) }),
    },
  ];
}

interface AddDialogProps extends Closing {
  readonly onDone: () => void;
}

function AddDialog(own: AddDialogProps) {
  const { roles } = useDeclared();
  const act = ({ name, role }: Form) => callApi('POST /operators', {}, { name, role });
  return html`<${ActDialog} title="Add an operator" label="Add the operator" act=${act} notice="The operator is added." ...${own}>
    <${Field} id="operator-name" label="Name">
      <input id="operator-name" name="name" maxlength="100" autocapitalize="none" required />
    <//>
    <${Choice} id="operator-role" label="Role" name="role" value="reader" choices=${roles} />
    <p class="quiet">"animal-store console --as NAME" prints a link for the operator.</p>
  <//>`;
}

interface MakeTokenDialogProps extends Closing {
  readonly operator: Operator;
  readonly onDone: (made: MadeToken) => void;
}

function MakeTokenDialog({ operator: { name, role }, ...own }: MakeTokenDialogProps) {
  const act = ({ days = '' }: Form) =>
    callApi('POST /operators/{operator}/tokens', { operator: name }, { days: toNumber(days) });
  return html`<${ActDialog} title=${`New token for ${name}`} label="Make the token" act=${act} ...${own}>
    <p>A program that has the token may do in the operator's API what the role ${role} may do.</p>
    <${Field} id="token-days" label="Days until the token expires">
      <input id="token-days" name="days" inputmode="numeric" value="365" required />
    <//>
  <//>`;
}

interface TokenDialogProps extends AddDialogProps {
  readonly made: MadeToken;
}

function TokenDialog({ made: { id, token, expiresAtMs }, ...own }: TokenDialogProps) {
  return html`<${SecretDialog} title="The new token" noun="token" secret=${token} ...${own}>
    <p>Its id is <code>${id}</code>. It expires at ${formatTime(expiresAtMs)}.</p>
  <//>`;
}

interface RemoveDialogProps extends AddDialogProps {
  readonly operator: Operator;
}

function RemoveDialog({ operator: { name }, ...own }: RemoveDialogProps) {
  return html`<${ActDialog}
    title=${`Remove ${name}?`}
    label="Remove the operator"
    isDangerous
    act=${() => callApi('DELETE /operators/{operator}', { operator: name })}
    notice=${`${name} is no longer an operator.`}
    ...${own}
  >
    <p>The links, sessions and tokens of <strong class="text">${name}</strong> end at once.</p>
  <//>`;
}

interface EndDialogProps extends AddDialogProps {
  readonly session: Listed;
}

function EndDialog({ session: { id, kind, name }, ...own }: EndDialogProps) {
  return html`<${ActDialog}
    title=${`End the ${kind} ${id}?`}
    label=${`End the ${kind}`}
    isDangerous
    act=${() => callApi('DELETE /sessions/{session}', { session: id })}
    notice=${`The ${kind} of ${name} has ended.`}
    ...${own}
  >
    <p>It is a ${kind} of <strong class="text">${name}</strong>.</p>
  <//>`;
}
