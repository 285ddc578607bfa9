import { html } from 'htm/preact';
import type { AnswerOf } from './api.ts';
import { useDialog } from './dialog.ts';
import { formatTime } from './format.ts';
import { askToClose, OrderAct, TimeLeft } from './orders.ts';
import { AccountLink, type Fact, Facts, PageHead, State, showOne } from './parts.ts';
import { type Now, useResource } from './resource.ts';
import { linkTo } from './routing.ts';

type Found = AnswerOf<'GET /orders/{orderId}'>;

/** The page of one order. */
export function Order({ id }: { readonly id: string }) {
  const found = useResource('GET /orders/{orderId}', { orderId: id });
  const dialog = useDialog();
  const ask = askToClose(dialog, found.reload);
  return html`
    ${showOne('order', id, found, (data, now) => {
      const { order } = data;
      return html`
        <${PageHead} title=${nameOrder(order)}>
          <${OrderAct} order=${order} onAsk=${ask} />
        <//>
        <${Facts} facts=${listFacts(data, now)} />
      `;
    })}
    ${dialog.shown}
  `;
}

function nameOrder({ id, account }: Found['order']): string {
  return account === undefined ? `Order ${id}` : `Order ${id} of ${account}`;
}

function listFacts({ order, pet }: Found, now: Now): readonly Fact[] {
  const { account, status, reference, createdAt, expiresAt, closedAt } = order;
  const isByOperator = status === 'cancelled' || status === 'returned';
  return [
    ['Status', html`<${State} state=${status} />`],
    ...(status === 'reserved'
      ? [['Time left', html`<${TimeLeft} order=${order} now=${now} />`] as const]
      : []),
    ['Animal', html`<${Animal} petId=${order.petId} pet=${pet} />`],
    ['Account', html`<${AccountLink} account=${account} />`],
    ['Reference', html`<span class="text">${reference ?? '–'}</span>`],
    ['Placed', formatTime(createdAt)],
    [status === 'reserved' ? 'Hold ends' : 'Hold until', formatTime(expiresAt)],
    ...(closedAt === undefined ? [] : [[capitalised(status), formatTime(closedAt)] as const]),
    ...(isByOperator
      ? [['Who', html`<a href=${linkTo(['audit'], { account, subject: order.id })}>Audit log</a>`] as const]
      : []),
  ];
}

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

function Animal({ petId, pet }: { readonly petId: string; readonly pet: Found['pet'] }) {
  if (pet === null) return `${petId}, which is deleted`;
  return html`<a class="text" href=${linkTo(['animals', petId])}>${pet.name}</a>
    ${' '}<span class="quiet">${petId}</span> <${State} state=${pet.status} />`;
}
