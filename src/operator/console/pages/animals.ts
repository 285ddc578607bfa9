import { html } from 'htm/preact';
import { h } from 'preact';
import { useActs } from './acts.ts';
import { PetInput } from './animal-fields.ts';
import { type AnswerOf, callApi, type QueryOf } from './api.ts';
import { ActDialog, type Closing, useDialog } from './dialog.ts';
import { Choice, Field, Filters, type Form, readForm, TextFilter } from './fields.ts';
import { notify } from './notices.ts';
import { PageHead, Pager, State, showLoaded } from './parts.ts';
import { readInputs } from './read-inputs.ts';
import { useResource } from './resource.ts';
import { goTo, linkTo } from './routing.ts';
import { useDeclared } from './session.ts';
import { type Column, describeEmpty, Table } from './table.ts';

const parts = ['animals'];

type Pet = AnswerOf<'GET /pets'>['items'][number];

const columns: readonly Column<Pet>[] = [
  {
    title: 'Number',
    by: 'id',
    isNumber: true,
    cell: ({ id }) => html`<a href=${linkTo(['animals', id])}>${id}</a>`,
  },
  { title: 'Name', by: 'name', cell: ({ name }) => html`<span class="text">${name}</span>` },
  { title: 'Category', by: 'categoryId', cell: (pet) => html`<${Category} ...${pet} />` },
  { title: 'Status', by: 'status', cell: ({ status }) => html`<${State} state=${status} />` },
];

/** Shows the number of a category as a link to its animals, and the name of the category if it has one. */
export function Category({ categoryId, category }: Pick<Pet, 'categoryId' | 'category'>) {
  return html`<a href=${linkTo(parts, { categoryId })}>${categoryId}</a>
    ${category !== null && html`${' '}<span class="text">${category}</span>`}`;
}

export function Animals({ query }: { readonly query: QueryOf<'GET /pets'> }) {
  const animals = useResource('GET /pets', query);
  const { petStatuses, petInputs } = useDeclared();
  // A file has a column for each field, even if none of its animals has the field.
  const noFields = Object.fromEntries(
    ['id', ...petInputs.map(({ field }) => field)].map((name) => [name, undefined]),
  );
  const dialog = useDialog();
  const act = useActs();
  const add = () => dialog.open((own) => h(AddDialog, own));
  const none = 'No animal yet. “Add an animal” adds one, and the command “import” adds those of a file.';
  return html`
    <${PageHead} title="Animals">
      ${act('POST /pets', { label: 'Add an animal', kind: 'main', onClick: add })}
      <a class="button" href=${linkTo(['categories'])}>Category names</a>
    <//>
    <div class="beside">
      <${Filters} parts=${parts} query=${query} label="Filter animals">
        <${Choice} id="status" label="Status" name="status" value=${query.status} choices=${petStatuses} all="all" />
        <${TextFilter} name="categoryId" label="Category" query=${query} inputmode="numeric" size="8" />
      <//>
      <${OpenForm} />
    </div>
    ${showLoaded(
      animals,
      ({ items, next }) => html`
        <${Table} caption="Animals" columns=${columns} rows=${items.map((pet) => ({ ...noFields, ...pet }))} empty=${describeEmpty(parts, query, 'animals', none)} />
        <${Pager} parts=${parts} query=${query} next=${next} />
      `,
    )}
    ${dialog.shown}
  `;
}

function AddDialog(own: Closing) {
  const { petInputs } = useDeclared();
  const act = (form: Form) => callApi('POST /pets', {}, readInputs(petInputs, form));
  function finish({ id }: AnswerOf<'POST /pets'>) {
    notify(`The animal ${id} is added.`);
    goTo(['animals', id]);
  }
  return html`<${ActDialog} title="Add an animal" label="Add the animal" act=${act} ...${own} onDone=${finish}>
    ${petInputs.map((input) => html`<${PetInput} key=${input.field} input=${input} />`)}
  <//>`;
}

function OpenForm() {
  function openOne(event: Event) {
    event.preventDefault();
    const { id } = readForm(event);
    if (id !== undefined) goTo(['animals', id]);
  }
  return html`<form class="filters" onSubmit=${openOne} aria-label="Open one animal">
    <${Field} id="number" label="Number">
      <input id="number" name="id" inputmode="numeric" size="8" />
    <//>
    <button type="submit">Open</button>
  </form>`;
}
