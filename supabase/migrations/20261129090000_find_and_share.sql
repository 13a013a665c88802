-- Finding a shipment among many, naming it while it is new, and showing one to somebody without an account.

grant insert (awb) on table public.shipments to authenticated;
update public.shipments set awb = nullif(btrim(awb), '') where awb <> btrim(awb);
alter table public.shipments add constraint shipments_awb_has_no_space_around check (awb = btrim(awb));

-- As before, and a new name is a change that a form has to have seen.
create or replace function private.tell_turn() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    -- Its documents are added after it, and none has a file.
    new.turn := case when new.stage = 10 then 'closed' else 'client' end;
    return new;
  end if;
  if (new.name, new.stage, new.awb, new.arrival_place, new.arrived_on, new.container_size)
    is distinct from (old.name, old.stage, old.awb, old.arrival_place, old.arrived_on, old.container_size)
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

-- The caller's shipments, newest first: at most `most`, after `skip` others, or, for the CSV, after the one whose opening
-- and id are given. Search finds a name, an AWB/BL and the beginning of an id. Row-level security decides what there is.
create function private.own_shipments(
  q text, stage integer, turn text, skip integer, most integer, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable
security invoker
set search_path = ''
as $$
declare
  pattern text;
  ids uuid[];
  conditions text := 'shipment.user_id = $1';
  found jsonb;
begin
  if coalesce(btrim(q), '') <> '' then
    pattern := private.anywhere(q);
    ids := private.ids_beginning(q);
    conditions := conditions || ' and (shipment.name ilike $2 or shipment.awb ilike $2 or shipment.id between $3 and $4)';
  end if;
  if stage is not null then
    conditions := conditions || ' and shipment.stage = $5';
  end if;
  if turn is not null then
    conditions := conditions || ' and shipment.turn = $6';
  end if;
  if before is not null then
    conditions := conditions || ' and (shipment.created_at, shipment.id) < ($9, $10)';
  end if;
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', found.id, 'name', found.name, 'status', found.status, 'stage', found.stage, 'awb', found.awb,
      'turn', found.turn, 'changed_at', found.changed_at, 'created_at', found.created_at
    ) order by found.created_at desc, found.id desc), '[]'::jsonb)
    from (
      select shipment.* from public.shipments as shipment where %s
      order by shipment.created_at desc, shipment.id desc
      offset $7 limit $8
    ) as found
  $query$, conditions)
  into found
  using auth.uid(), pattern, ids[1], ids[2], stage, turn, skip, most, before, before_id;
  return found;
end
$$;
revoke all on function private.own_shipments(text, integer, text, integer, integer, timestamptz, uuid) from public, anon;
revoke all on function private.anywhere(text) from public, anon;
revoke all on function private.ids_beginning(text) from public, anon;
grant execute on function private.own_shipments(text, integer, text, integer, integer, timestamptz, uuid) to authenticated;
grant execute on function private.anywhere(text) to authenticated;
grant execute on function private.ids_beginning(text) to authenticated;

-- Links to one shipment for a buyer or a driver. The token is known by its hash alone; the site makes it from the id and a
-- secret of its own, so that it can show it again.
create table private.shares (
  id uuid primary key,
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  token_hash text not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  made_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days'
);
create index shares_of_shipment on private.shares (shipment_id);
create index shares_past on private.shares (expires_at);
alter table private.shares enable row level security;
revoke all on table private.shares from anon, authenticated, service_role;

-- The links of a shipment of the caller's that still open something, oldest first.
create function private.shares_of(shipment_id uuid) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', share.id, 'token_hash', share.token_hash, 'made_at', share.made_at, 'expires_at', share.expires_at
  ) order by share.made_at, share.id), '[]'::jsonb)
  from private.shares as share
  join public.shipments as shipment on shipment.id = share.shipment_id
  where share.shipment_id = shares_of.shipment_id and share.expires_at > now()
    and shipment.user_id = (select auth.uid()) and (select private.assurance_suffices())
$$;
revoke all on function private.shares_of(uuid) from public, anon;
grant execute on function private.shares_of(uuid) to authenticated;

-- Makes a link to a shipment of the caller's. `id` is the form's own: sent twice it makes one. PT404 for a stranger's
-- shipment, PT409 for the sixth link.
create function public.make_share(id uuid, shipment_id uuid, token_hash text) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
begin
  if not private.assurance_suffices() then
    raise sqlstate 'PT403' using message = 'Log in again to do this.';
  end if;
  -- Locked, so that links made at the same time are counted one after another.
  perform from public.shipments
  where shipments.id = make_share.shipment_id and user_id = (select auth.uid())
  for no key update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such shipment.';
  end if;
  if exists (
    select from private.shares
    where shares.id = make_share.id and shares.shipment_id = make_share.shipment_id
      and shares.token_hash = make_share.token_hash and expires_at > now()
  ) then
    return;
  end if;
  if exists (select from private.shares where shares.id = make_share.id) then
    raise sqlstate 'PT409' using message = 'The link of this form has ended. Open this page again to make another one.';
  end if;
  if (
    select count(*) from private.shares where shares.shipment_id = make_share.shipment_id and expires_at > now()
  ) >= 5 then
    raise sqlstate 'PT409' using message = 'This shipment has five links, as many as there can be. End one first.';
  end if;
  insert into private.shares (id, shipment_id, token_hash)
  values (make_share.id, make_share.shipment_id, make_share.token_hash);
end
$$;
revoke all on function public.make_share(uuid, uuid, text) from public, anon;
grant execute on function public.make_share(uuid, uuid, text) to authenticated;

-- Ends a link of the caller's; one that has ended already stays so. Its row stays for a while: the form that made it makes
-- it no second time.
create function public.end_share(id uuid) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
begin
  if not private.assurance_suffices() then
    raise sqlstate 'PT403' using message = 'Log in again to do this.';
  end if;
  update private.shares set expires_at = now()
  from public.shipments as shipment
  where shares.id = end_share.id and shipment.id = shares.shipment_id and shipment.user_id = (select auth.uid())
    and expires_at > now();
end
$$;
revoke all on function public.end_share(uuid) from public, anon;
grant execute on function public.end_share(uuid) to authenticated;

-- What a link shows to whoever has it: {"name", "stage", "status", "changed_at", "events": [{"status", "location",
-- "created_at"}], the newest 15 first}. Null for a wrong and for an ended one, and when the account of the shipment is closed.
create function public.shared_shipment(token text) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status, 'changed_at', shipment.changed_at,
    'events', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'status', event.status, 'location', event.location, 'created_at', event.created_at
      ) order by event.created_at desc, event.id desc), '[]'::jsonb)
      from (
        select * from public.tracking_events
        -- Not what is only a note to the client.
        where tracking_events.shipment_id = shipment.id and tracking_events.status <> 'Note'
        order by created_at desc, id desc limit 15
      ) as event
    )
  )
  from private.shares as share
  join public.shipments as shipment on shipment.id = share.shipment_id
  join auth.users as account on account.id = shipment.user_id
  where share.token_hash = encode(sha256(convert_to(shared_shipment.token, 'UTF8')), 'hex')
    and share.expires_at > now() and coalesce(account.banned_until < now(), true)
$$;
revoke all on function public.shared_shipment(text) from public, anon, authenticated;
grant execute on function public.shared_shipment(text) to service_role;

-- Changes the name and the AWB/BL of a shipment of the caller's while it is at stage 1. `seen` is the version that the form
-- was opened at; sent twice it changes them once. PT404 for a stranger's, PT409 when it has moved on or changed.
create function public.change_shipment(shipment_id uuid, name text, awb text, seen integer) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  found_shipment public.shipments;
  number text := nullif(btrim(awb), '');
begin
  if not private.assurance_suffices() then
    raise sqlstate 'PT403' using message = 'Log in again to do this.';
  end if;
  select * into found_shipment from public.shipments
  where id = change_shipment.shipment_id and user_id = (select auth.uid())
  for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such shipment.';
  end if;
  if (found_shipment.name, found_shipment.awb) is not distinct from (change_shipment.name, number) then
    return;
  end if;
  if found_shipment.stage > 1 then
    raise sqlstate 'PT409' using message = 'This shipment has moved on: call us to change its name or its AWB/BL.';
  end if;
  if found_shipment.version is distinct from change_shipment.seen then
    raise sqlstate 'PT409' using message = 'This shipment has changed since you opened the form. Look at it again.';
  end if;
  update public.shipments
  set name = change_shipment.name, awb = number
  where id = change_shipment.shipment_id;
end
$$;
revoke all on function public.change_shipment(uuid, text, text, integer) from public, anon;
grant execute on function public.change_shipment(uuid, text, text, integer) to authenticated;

-- The next shipments of /portal/shipments.csv after the one whose opening and id are given: 500, with who asks.
create function public.portal_shipments_after(
  q text default null, stage integer default null, turn text default null,
  before timestamptz default null, before_id uuid default null
) returns jsonb
language sql stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'caller', private.caller(),
    'shipments', private.own_shipments(
      portal_shipments_after.q, portal_shipments_after.stage, portal_shipments_after.turn, 0, 500,
      portal_shipments_after.before, portal_shipments_after.before_id
    )
  )
$$;
revoke all on function public.portal_shipments_after(text, integer, text, timestamptz, uuid) from public, anon;
grant execute on function public.portal_shipments_after(text, integer, text, timestamptz, uuid) to authenticated;

-- What a page of the portal shows, as before, with the list by search, stage and turn, the files of documents, and the
-- links to the shipment that is open.
drop function public.portal_page(integer, uuid);
create function public.portal_page(
  page integer default 1, opened uuid default null, q text default null, stage integer default null, turn text default null
) returns jsonb
language sql stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'caller', private.caller(),
    'announcement', (
      select jsonb_build_object('text', text, 'begun_at', begun_at) from public.announcements where ended_at is null
    ),
    'shipments', private.own_shipments(
      portal_page.q, portal_page.stage, portal_page.turn, (greatest(portal_page.page, 1) - 1) * 20, 21
    ),
    'work', case when portal_page.opened is null then jsonb_build_object(
      'waiting', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', mine.id, 'name', mine.name, 'stage', mine.stage,
          'documents', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'sent_back_at', document.sent_back_at
            )), '[]'::jsonb)
            from public.documents as document where document.shipment_id = mine.id and not document.uploaded
          ),
          'charges', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'item', charge.item, 'due_on', charge.due_on, 'paid_at', charge.paid_at
            )), '[]'::jsonb)
            from public.charges as charge where charge.shipment_id = mine.id and charge.paid_at is null
          )
        ) order by mine.turn_since, mine.id), '[]'::jsonb)
        from (
          select * from public.shipments
          where user_id = (select auth.uid()) and turn = 'client'
          order by turn_since, id
          limit 6
        ) as mine
      ),
      'yours', (
        select count(*) from (
          select from public.shipments where user_id = (select auth.uid()) and turn = 'client' limit 100
        ) as counted
      ),
      'ours', (
        select count(*) from (
          select from public.shipments where user_id = (select auth.uid()) and turn = 'company' limit 100
        ) as counted
      ),
      'closed', (
        select count(*) from (
          select from public.shipments where user_id = (select auth.uid()) and turn = 'closed' limit 100
        ) as counted
      )
    ) end,
    'shipment', (
      select jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'status', shipment.status, 'stage', shipment.stage,
        'awb', shipment.awb, 'turn', shipment.turn, 'changed_at', shipment.changed_at,
        'created_at', shipment.created_at, 'version', shipment.version, 'shares', private.shares_of(shipment.id),
        'arrival', case when shipment.arrived_on is not null then jsonb_build_object(
          'place', shipment.arrival_place, 'day', shipment.arrived_on, 'size', shipment.container_size,
          'free_until', shipment.free_until
        ) end,
        'charges', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on,
            'note', charge.note, 'paid_at', charge.paid_at
          )), '[]'::jsonb)
          from public.charges as charge
          where charge.shipment_id = shipment.id
        ),
        'documents', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'verified', document.verified,
            'sent_back_at', document.sent_back_at, 'sent_back_reason', document.sent_back_reason,
            'file_name', document.file_name, 'file_size', document.file_size, 'uploaded_at', document.uploaded_at,
            'version', document.version
          )), '[]'::jsonb)
          from public.documents as document
          where document.shipment_id = shipment.id
        ),
        'tracking_events', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', event.id, 'status', event.status, 'location', event.location, 'note', event.note,
            'created_at', event.created_at
          ) order by event.created_at desc, event.id desc), '[]'::jsonb)
          from public.tracking_events as event
          where event.shipment_id = shipment.id
        )
      )
      from public.shipments as shipment
      where shipment.id = portal_page.opened and shipment.user_id = (select auth.uid())
    )
  )
$$;
revoke all on function public.portal_page(integer, uuid, text, integer, text) from public, anon;
grant execute on function public.portal_page(integer, uuid, text, integer, text) to authenticated;
