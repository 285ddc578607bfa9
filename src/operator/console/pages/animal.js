import { useRef } from 'preact/hooks';
import { Category, capitalise, PetInput, readInputs } from './animals.js';
import { callApi } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { html } from './html.js';
import { notify } from './notices.js';
import { OrderTable } from './orders.js';
import { Facts, Loaded, PageHead, State } from './parts.js';
import { useResource } from './resource.js';
import { goTo } from './routing.js';

/** How the page shows a field. It shows other fields as text. */
const views = {
  categoryId: (pet) => html`<${Category} ...${pet} />`,
  status: (pet) => html`<${State} state=${pet.status} />`,
};

export function Animal({ id }) {
  const animal = useResource(`/pets/${encodeURIComponent(id)}`);
  const dialog = useDialog();
  return html`<${Loaded} resource=${animal}>
    ${({ pet, tag, inputs, orders }, now) => {
      const reload = animal.reload;
      const edit = html`<${EditDialog} pet=${pet} tag=${tag} inputs=${inputs} onDone=${reload} />`;
      const remove = html`<${DeleteDialog} pet=${pet} />`;
      return html`<${PageHead} title=${`Animal ${pet.id}`}>
          <button type="button" onClick=${() => dialog.open(edit)}>Edit</button>
          <button type="button" class="danger" onClick=${() => dialog.open(remove)}>Delete</button>
        <//>
        <${Facts}
          facts=${inputs
            .filter(({ field }) => pet[field] !== undefined)
            .map(({ field, label }) => [
              capitalise(label),
              views[field]?.(pet) ?? html`<span class="text">${pet[field]}</span>`,
            ])}
        />
        <section aria-labelledby="orders">
          <h2 id="orders">Newest orders</h2>
          <${OrderTable} orders=${orders} now=${now} onChange=${reload} empty="This animal has no orders." />
        </section>
        ${dialog.shown}`;
    }}
  <//>`;
}

/**
 * Sends only the fields that the operator has changed. If somebody else has changed the animal, the dialog says what it is
 * now and keeps what was typed. The next attempt replaces the animal as it is then.
 */
function EditDialog({ pet, tag, inputs, ...own }) {
  const seen = useRef(tag);
  async function act(values) {
    const given = Object.fromEntries(inputs.map(({ field }) => [field, values[field] ?? '']));
    const entered = Object.entries(readInputs(inputs, given));
    const changed = entered.filter(([field, value]) => String(value) !== (pet[field] ?? ''));
    try {
      await callApi('PATCH', `/pets/${pet.id}`, { tag: seen.current, ...Object.fromEntries(changed) });
    } catch (error) {
      if (error.code !== 'precondition_failed') throw error;
      const now = await callApi('GET', `/pets/${pet.id}`);
      seen.current = now.tag;
      throw new Error(describeConflict(pet, now.pet, inputs));
    }
  }
  return html`<${ActDialog}
    title=${`Edit the animal ${pet.id}`}
    label="Save"
    act=${act}
    notice=${`The animal ${pet.id} is changed.`}
    ...${own}
  >
    ${inputs.map((input) => html`<${PetInput} key=${input.field} input=${input} value=${pet[input.field]} />`)}
  <//>`;
}

function describeConflict(before, now, inputs) {
  const differing = inputs.filter(({ field }) => before[field] !== now[field]);
  const changes = differing.map(({ field, label }) => `${label} is now "${now[field] ?? ''}"`).join(', ');
  return `Somebody else has changed this animal since you opened it${changes && `: ${changes}`}. Your entries are kept. Save again to apply the fields that you have changed, or go back to leave the animal as it is now.`;
}

function DeleteDialog({ pet, ...own }) {
  function finish() {
    notify(`The animal ${pet.id} is deleted.`);
    goTo(['animals']);
  }
  return html`<${ActDialog}
    title=${`Delete the animal ${pet.id}?`}
    label=${`Delete ${pet.id}`}
    isDangerous
    act=${() => callApi('DELETE', `/pets/${pet.id}`)}
    ...${own}
    onDone=${finish}
  >
    <p>Its name is <strong class="text">${pet.name}</strong>. This cannot be undone. The number of the animal is never used again.</p>
  <//>`;
}
