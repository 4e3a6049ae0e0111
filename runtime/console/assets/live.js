'use strict';
// Keeps a page as it is by now, while it is looked at. Without it, every page works as well, and is loaded again by hand.
const main = document.getElementById('main');
const changed = document.getElementById('changed');
// The one source of HTML that may enter a page: what the console itself has written.
const written = window.trustedTypes
  ? trustedTypes.createPolicy('console', {createHTML: (text) => text})
  : {createHTML: (text) => text};
let source, last, waiting;

// What the clock of the console has said, and when: that of the browser may be another one, or be set.
let clock, since;

function set(time) {
  clock = Date.parse(time);
  since = performance.now();
}

// Returns a time in milliseconds as times.go says it.
function span(ms) {
  const s = Math.floor(ms / 1000), min = Math.floor(s / 60), h = Math.floor(min / 60);
  if (s < 1) return 'a moment';
  if (min < 1) return s + ' s';
  if (min < 10 && s % 60) return min + ' min ' + s % 60 + ' s';
  if (h < 1) return min + ' min';
  if (h < 48) return min % 60 ? h + ' h ' + min % 60 + ' min' : h + ' h';
  return Math.floor(h / 24) + ' days';
}

// Says how far away times are by now. What somebody has selected stays as it is.
function tick() {
  const now = clock + performance.now() - since, selected = getSelection();
  for (const time of document.querySelectorAll('time[title]')) { // without a title it is no distance
    if (!selected.isCollapsed && selected.containsNode(time, true)) continue;
    const ahead = Date.parse(time.dateTime) - now;
    const text = span(Math.max(time.closest('.until') ? ahead : -ahead, 0));
    if (time.textContent !== text) time.textContent = text;
  }
}

function show(event) {
  document.title = event.title + ' · ' + main.dataset.name;
  document.getElementById('count').textContent = event.count;
  const rows = document.getElementById('rows');
  const at = rows.contains(document.activeElement) && document.activeElement;
  if (at && !(at.id && at.matches('.scroll, summary'))) { // a link, a field or a button stays where it is
    waiting = event;
    say('held', 'What is below has changed, and is shown anew once you leave it.');
    return;
  }
  waiting = undefined;
  say('held', '');
  const open = [...rows.querySelectorAll('details[open]')].map((details) => details.id);
  const scrolled = [...rows.querySelectorAll('.scroll')].map((box) => [box.id, box.scrollLeft]);
  rows.innerHTML = written.createHTML(event.rows);
  for (const id of open) document.getElementById(id)?.setAttribute('open', '');
  for (const [id, left] of scrolled) document.getElementById(id)?.scrollTo(left, 0);
  if (at) document.getElementById(at.id)?.focus({preventScroll: true});
}

// Why the page is not as things are by now. The first of these that has a text is said.
const reasons = {ended: '', lost: '', moved: '', held: ''};

function say(reason, text) {
  if (reasons[reason] === text) return; // and is not said once more to who listens
  reasons[reason] = text;
  const first = Object.values(reasons).find((text) => text);
  changed.textContent = first ? first + ' ' : '';
  if (!first) return;
  const again = document.createElement('a');
  again.href = location.href;
  again.textContent = 'Load it again';
  changed.append(again);
}

// The page hears a beat every 15 seconds. Without one it does not follow, also where its connection seems to be open.
let patience = 40000, silence;

function hear() {
  clearTimeout(silence);
  silence = setTimeout(() => {
    leave();
    say('lost', 'This page does not follow at the moment.');
    open();
  }, patience);
}

function leave() {
  clearTimeout(silence);
  source?.close();
}

function open() {
  hear();
  const address = new URL(main.dataset.live, location.href);
  if (last) address.searchParams.set('seen', last);
  source = new EventSource(address);
  source.onmessage = (message) => {
    last = message.lastEventId;
    const event = JSON.parse(message.data);
    if (event.title) show(event);
    else say('moved', 'This item has changed meanwhile.');
  };
  source.addEventListener('beat', (beat) => {
    hear();
    say('lost', '');
    set(beat.data);
    tick();
  });
  source.addEventListener('ended', () => {
    leave();
    say('ended', 'Your session has ended.');
  });
  source.onerror = () => {
    if (source.readyState === EventSource.CONNECTING) say('lost', 'This page does not follow at the moment.');
    else {
      leave();
      say('lost', 'This page does not follow what happens any more.');
    }
  };
}

// Browsers have few connections to a host, so pages that nobody looks at have none.
document.addEventListener('visibilitychange', () => {
  leave();
  if (!document.hidden) open();
});
addEventListener('pagehide', leave);
addEventListener('pageshow', (event) => event.persisted && open());
document.addEventListener('focusout', () => setTimeout(() => waiting && show(waiting)));
set(main.dataset.now);
setInterval(tick, 15000);
if (!document.hidden) open();
