-- What the desk keeps beside a shipment: whose move it is, its arrival, its charges, why a document was sent back, and the
-- announcement that all clients see.

create extension if not exists pg_trgm with schema extensions;

alter table public.shipments
  -- Whose move it is, told from the documents, the charges and the stage (private.turn_of), and since when.
  add column turn text not null default 'client' check (turn in ('client', 'company', 'closed')),
  add column turn_since timestamptz not null default now(),
  -- The last thing that happened to it, and the last that the company did.
  add column changed_at timestamptz not null default now(),
  add column acted_at timestamptz not null default now(),
  -- Counts the changes of stage, AWB/BL and arrival: a form says which of them it was opened at.
  add column version integer not null default 0,
  -- Where and when the cargo arrived and in what, and the last day of free storage (East Africa Time).
  add column arrival_place text check (arrival_place in ('mombasa', 'nairobi', 'naivasha')),
  add column arrived_on date,
  add column container_size smallint check (container_size in (20, 40)),
  add column free_until date,
  add check (num_nulls(arrival_place, arrived_on, container_size, free_until) in (0, 4));

alter table public.documents
  -- Counts the changes of its file and its verification: a form says which of them it was opened at.
  add column version integer not null default 0,
  add column sent_back_at timestamptz,
  add column sent_back_reason text check (char_length(sent_back_reason) between 1 and 500),
  add check (num_nulls(sent_back_at, sent_back_reason) in (0, 2)),
  add check (sent_back_at is null or not uploaded);

-- What the company tells the client with an event: beside a move, or alone.
alter table public.tracking_events add column note text check (char_length(note) between 1 and 1000);

-- What a client is to pay for a shipment. The three items are those of app/models/shipment.ts.
create table public.charges (
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  item text not null check (item in ('idf-fee', 'duties', 'agent-fee')),
  amount numeric(14, 2) not null check (amount > 0),
  currency text not null check (currency in ('KES', 'USD', 'EUR', 'GBP')),
  due_on date,
  note text check (char_length(note) between 1 and 300),
  paid_at timestamptz,
  version integer not null default 0,
  primary key (shipment_id, item)
);
alter table public.charges enable row level security;
revoke all on table public.charges from anon, authenticated, service_role;
grant select on table public.charges to authenticated, service_role;

create policy "an account with a second factor needs its code" on public.charges
as restrictive for all to authenticated
using ((select private.assurance_suffices()))
with check ((select private.assurance_suffices()));

create policy "clients read the charges of their own shipments" on public.charges
for select to authenticated
using (exists (
  select 1 from public.shipments
  where shipments.id = charges.shipment_id and shipments.user_id = (select auth.uid())
));

-- One sentence that every client reads above their shipments while it is not ended.
create table public.announcements (
  id uuid primary key default gen_random_uuid(),
  text text not null check (char_length(text) between 1 and 200),
  begun_at timestamptz not null default now(),
  ended_at timestamptz
);
create unique index announcements_one_at_a_time on public.announcements ((true)) where ended_at is null;
alter table public.announcements enable row level security;
revoke all on table public.announcements from anon, authenticated, service_role;
grant select on table public.announcements to authenticated, service_role;

create policy "an account with a second factor needs its code" on public.announcements
as restrictive for all to authenticated
using ((select private.assurance_suffices()))
with check ((select private.assurance_suffices()));

create policy "who is signed in reads what is announced" on public.announcements
for select to authenticated
using (true);

-- For whom a client ID was issued, as the company calls them, and where it was sent.
alter table public.client_ids
  add column issued_for text check (char_length(issued_for) between 1 and 120),
  add column sent_to text check (char_length(sent_to) between 3 and 254);

-- Mails of the company that could not be handed over, until somebody has dealt with them.
create table public.undelivered_mails (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null default now(),
  kind text not null check (kind in ('invitation', 'client ID', 'new password')),
  sent_to text not null check (char_length(sent_to) between 3 and 254),
  account uuid references auth.users (id) on delete cascade,
  client_id text references public.client_ids (client_id) on delete cascade,
  dealt_with_at timestamptz
);
create index undelivered_mails_open on public.undelivered_mails (at) where dealt_with_at is null;
alter table public.undelivered_mails enable row level security;
revoke all on table public.undelivered_mails from anon, authenticated, service_role;
grant select on table public.undelivered_mails to authenticated, service_role;
create policy "colleagues read what was not delivered" on public.undelivered_mails
for select to authenticated
using ((select private.is_colleague()));

-- Colleagues read what clients have; they change it by the functions of the desk alone.
create policy "colleagues read all shipments" on public.shipments
for select to authenticated using ((select private.is_colleague()));
create policy "colleagues read all documents" on public.documents
for select to authenticated using ((select private.is_colleague()));
create policy "colleagues read all events" on public.tracking_events
for select to authenticated using ((select private.is_colleague()));
create policy "colleagues read all charges" on public.charges
for select to authenticated using ((select private.is_colleague()));
create policy "colleagues read all files" on storage.objects
for select to authenticated using (bucket_id = 'documents' and (select private.is_colleague()));

-- Whose move a shipment is: the client's while a document has no file (it is missing, or was sent back) or a charge is not
-- paid; the company's else; nobody's once it is closed. app/models/shipment.ts has the same rule.
create function private.turn_of(shipment_id uuid, stage smallint) returns text
language sql stable
set search_path = ''
as $$
  select case
    when stage = 10 then 'closed'
    when exists (
      select from public.documents as document
      where document.shipment_id = turn_of.shipment_id and not document.uploaded
    ) or exists (
      select from public.charges as charge where charge.shipment_id = turn_of.shipment_id and charge.paid_at is null
    ) then 'client'
    else 'company'
  end
$$;
revoke all on function private.turn_of(uuid, smallint) from public, anon, authenticated;

-- Shipments from before: whose move they are, and the last thing that is known of them.
update public.shipments
set turn = private.turn_of(shipments.id, shipments.stage), changed_at = greatest(shipments.created_at, known.last),
  acted_at = greatest(shipments.created_at, known.last), turn_since = greatest(shipments.created_at, known.last)
from (
  select shipment.id, greatest(max(event.created_at), max(document.uploaded_at)) as last
  from public.shipments as shipment
  left join public.tracking_events as event on event.shipment_id = shipment.id
  left join public.documents as document on document.shipment_id = shipment.id
  group by shipment.id
) as known
where known.id = shipments.id;

create function private.tell_turn() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    -- Its documents are added after it, and none has a file.
    new.turn := case when new.stage = 10 then 'closed' else 'client' end;
    return new;
  end if;
  if (new.stage, new.awb, new.arrival_place, new.arrived_on, new.container_size)
    is distinct from (old.stage, old.awb, old.arrival_place, old.arrived_on, old.container_size)
  then
    new.version := old.version + 1;
    new.changed_at := now();
  end if;
  new.turn := private.turn_of(new.id, new.stage);
  if new.turn <> old.turn then
    new.turn_since := now();
  end if;
  return new;
end
$$;
revoke all on function private.tell_turn() from public, anon, authenticated;
create trigger tell_turn
before insert or update on public.shipments
for each row execute function private.tell_turn();

-- What happens to a document or a charge happens to its shipment.
create function private.touch_shipment() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  update public.shipments set changed_at = now() where id = new.shipment_id;
  return null;
end
$$;
revoke all on function private.touch_shipment() from public, anon, authenticated;
create trigger touch_shipment
after update on public.documents
for each row when ((new.uploaded, new.verified) is distinct from (old.uploaded, old.verified))
execute function private.touch_shipment();
create trigger touch_shipment
after insert or update on public.charges
for each row execute function private.touch_shipment();

create function private.count_version() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.version := old.version + 1;
  return new;
end
$$;
revoke all on function private.count_version() from public, anon, authenticated;
create trigger count_version
before update on public.documents
for each row execute function private.count_version();
create trigger count_version
before update on public.charges
for each row execute function private.count_version();

-- The lists of the desk, each in its order, however many shipments lie behind it.
create index shipments_by_change on public.shipments (changed_at desc, id desc);
create index shipments_by_stage on public.shipments (stage, changed_at desc, id desc);
create index shipments_by_turn on public.shipments (turn, changed_at desc, id desc);
create index shipments_by_stage_and_turn on public.shipments (stage, turn, changed_at desc, id desc);
create index shipments_standing on public.shipments (acted_at, id) where turn = 'company';
create index shipments_waiting on public.shipments (turn_since, id) where turn = 'client';
create index shipments_in_storage on public.shipments (free_until, id) where free_until is not null and stage < 9;
create index documents_to_check on public.documents (uploaded_at, id) where uploaded and not verified;
create index shipments_named on public.shipments using gin (name extensions.gin_trgm_ops, awb extensions.gin_trgm_ops);
create index acts_of_document on public.acts (document, at) where document is not null;
create index acts_of_account on public.acts (account, at) where account is not null;
create index acts_by_colleague on public.acts (by_name, at);
create index acts_of_kind on public.acts (act, at);
create index client_ids_unused on public.client_ids (created_at) where used_with is null;

-- As before, and a document that is sent back gives its file up: by private.take_file_back alone, in its transaction. A new
-- file ends that it was sent back.
create or replace function private.guard_document_file() returns trigger
language plpgsql security definer
set search_path = ''
as $$
declare
  at_stage smallint;
begin
  if coalesce(old.uploaded, false) and not new.uploaded
    and current_setting('portal.file_taken_back', true) = old.id::text
  then
    return new;
  end if;
  if coalesce(old.uploaded, false) then
    if (new.uploaded, new.storage_path, new.file_name, new.file_size, new.media_type, new.uploaded_at)
        is distinct from
        (old.uploaded, old.storage_path, old.file_name, old.file_size, old.media_type, old.uploaded_at)
      or (new.sha256 is distinct from old.sha256 and (old.sha256 is not null or not new.verified))
      or (new.storage_version is distinct from old.storage_version and (old.sha256 is null or not new.verified))
    then
      perform private.refuse_file(true, null);
    end if;
  elsif new.uploaded then
    -- Locked, so that nobody closes the shipment meanwhile. Not a share: of two uploads at once each would wait for the
    -- other, as each changes the shipment then.
    select shipments.stage into at_stage from public.shipments where shipments.id = new.shipment_id for no key update;
    perform private.refuse_file(false, at_stage);
    select object.version into new.storage_version
    from storage.objects as object
    where object.bucket_id = 'documents' and object.name = new.storage_path;
    if not found
      or new.storage_path !~ format(
        '^%s/%s/%s-[0-9a-f]{12}-[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]{1,8})?$',
        new.user_id, new.shipment_id, private.document_slug(new.name)
      )
      or num_nulls(new.sha256, new.file_name, new.file_size, new.media_type) > 0
    then
      raise sqlstate 'PT409' using message = 'The file of this document is not in the document store.';
    end if;
    new.uploaded_at := now();
    new.sent_back_at := null;
    new.sent_back_reason := null;
  end if;

  if new.uploaded and new.verified
    and (
      not coalesce(old.verified, false)
      or (new.sha256, new.storage_version) is distinct from (old.sha256, old.storage_version)
    )
    and (new.sha256 is null or not exists (
      select from storage.objects as object
      where object.bucket_id = 'documents' and object.name = new.storage_path
        and object.version is not distinct from new.storage_version
    ))
  then
    raise sqlstate 'PT409' using message = 'The stored file is not the one that was uploaded.';
  end if;
  return new;
end
$$;
