'use strict';
// Keeps a page as it is by now, while it is looked at. Without it, every page works as well, and is loaded again by hand.
const main = document.getElementById('main');
const changed = document.getElementById('changed');
// The one source of HTML that may enter a page: what the console itself has written.
const written = window.trustedTypes
  ? trustedTypes.createPolicy('console', {createHTML: (text) => text})
  : {createHTML: (text) => text};
let source, last, waiting;

function show(event) {
  document.title = event.title + ' · ' + main.dataset.name;
  document.getElementById('count').textContent = event.count;
  const rows = document.getElementById('rows');
  if (rows.contains(document.activeElement)) {
    waiting = event; // what has the focus stays where it is
    return;
  }
  waiting = undefined;
  const open = [...rows.querySelectorAll('details[open]')].map((details) => details.id);
  rows.innerHTML = written.createHTML(event.rows);
  for (const id of open) document.getElementById(id)?.setAttribute('open', '');
}

function say(text) {
  changed.textContent = text + ' ';
  const again = document.createElement('a');
  again.href = location.href;
  again.textContent = 'Load it again';
  changed.append(again);
}

function open() {
  const address = new URL(main.dataset.live, location.href);
  if (last) address.searchParams.set('seen', last);
  source = new EventSource(address);
  source.onmessage = (message) => {
    last = message.lastEventId;
    const event = JSON.parse(message.data);
    if (event.title) show(event);
    else say('This item has changed meanwhile.');
  };
  source.addEventListener('ended', () => {
    source.close();
    say('Your session has ended.');
  });
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) say('This page does not follow what happens any more.');
  };
}

// Browsers have few connections to a host, so pages that nobody looks at have none.
document.addEventListener('visibilitychange', () => {
  if (source) source.close();
  if (!document.hidden) open();
});
addEventListener('pagehide', () => source && source.close());
addEventListener('pageshow', (event) => event.persisted && open());
document.addEventListener('focusout', () => setTimeout(() => waiting && show(waiting)));
if (!document.hidden) open();
