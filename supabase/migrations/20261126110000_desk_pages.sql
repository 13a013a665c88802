-- What the pages of the desk show, each in one call with who asks. They run as their owner, so that a search may use its
-- index (row-level security would keep it from that), and ask first whether the caller is a colleague at AAL2: everybody else
-- is told who they are, and nothing more. `page` counts from 1; one row more than a page has means that there is a next one.

-- The pattern that finds a text anywhere, with what LIKE takes for special made plain.
create function private.anywhere(q text) returns text
language sql immutable
set search_path = ''
as $$
  select '%' || regexp_replace(btrim(q), '([\\%_])', '\\\1', 'g') || '%'
$$;
revoke all on function private.anywhere(text) from public, anon, authenticated;

-- The shipments of a list, newest change first: at most `most`, after the one whose change and id are given, or after
-- `skip` others. Search finds a name, an AWB/BL, the beginning of an id, and a client's name or address.
create function private.find_shipments(
  q text, stage integer, turn text, skip integer, most integer, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable
set search_path = ''
as $$
declare
  pattern text := private.anywhere(q);
  typed text := lower(btrim(q));
  shape constant text := '00000000-0000-0000-0000-000000000000';
  low uuid;
  high uuid;
  clients uuid[];
  conditions text := 'true';
  found jsonb;
begin
  if coalesce(typed, '') <> '' then
    if char_length(typed) between 4 and 36 and typed || substr(shape, char_length(typed) + 1) ~
      '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    then
      low := (typed || substr(shape, char_length(typed) + 1))::uuid;
      high := (typed || substr(replace(shape, '0', 'f'), char_length(typed) + 1))::uuid;
    end if;
    clients := array(
      select users.id from auth.users
      where users.email ilike pattern or users.raw_user_meta_data ->> 'full_name' ilike pattern
      limit 500
    );
    conditions := '(shipment.name ilike $1 or shipment.awb ilike $1 or shipment.id between $2 and $3'
      || ' or shipment.user_id = any ($4))';
  end if;
  if stage is not null then
    conditions := conditions || ' and shipment.stage = $5';
  end if;
  if turn is not null then
    conditions := conditions || ' and shipment.turn = $6';
  end if;
  if before is not null then
    conditions := conditions || ' and (shipment.changed_at, shipment.id) < ($9, $10)';
  end if;
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', found.id, 'name', found.name, 'awb', found.awb, 'stage', found.stage, 'status', found.status,
      'turn', found.turn, 'changed_at', found.changed_at, 'created_at', found.created_at, 'version', found.version,
      'client', account.raw_user_meta_data ->> 'full_name', 'email', account.email
    ) order by found.changed_at desc, found.id desc), '[]'::jsonb)
    from (
      select * from public.shipments as shipment where %s
      order by shipment.changed_at desc, shipment.id desc
      offset $7 limit $8
    ) as found
    join auth.users as account on account.id = found.user_id
  $query$, conditions)
  into found
  using pattern, low, high, clients, stage, turn, skip, most, before, before_id;
  return found;
end
$$;
revoke all on function private.find_shipments(text, integer, text, integer, integer, timestamptz, uuid)
from public, anon, authenticated;

-- How many rows a query has, up to a hundred: a list says "99+" beyond, and counts no more rows than that.
create function private.up_to_a_hundred(rows_of text) returns bigint
language plpgsql stable
set search_path = ''
as $$
declare
  counted bigint;
begin
  execute format('select count(*) from (%s limit 100) as counted', rows_of) into counted;
  return counted;
end
$$;
revoke all on function private.up_to_a_hundred(text) from public, anon, authenticated;

-- /desk: the day's work. Each list has its count, up to 100, and its eight oldest.
create function public.desk_today() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  today date := (now() at time zone 'Africa/Nairobi')::date;
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'announcement', (
      select jsonb_build_object('text', text, 'begun_at', begun_at) from public.announcements where ended_at is null
    ),
    'to_check', jsonb_build_object(
      'count', private.up_to_a_hundred('select from public.documents where uploaded and not verified'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select document.shipment_id as shipment, shipment.name, document.name as what, document.uploaded_at as at
          from public.documents as document
          join public.shipments as shipment on shipment.id = document.shipment_id
          where document.uploaded and not document.verified
          order by document.uploaded_at, document.id
          limit 8
        ) as line
      )
    ),
    'storage', jsonb_build_object(
      'count', private.up_to_a_hundred(format(
        'select from public.shipments where free_until <= %L and stage < 9', today + 3
      )),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.day), '[]'::jsonb)
        from (
          select id as shipment, name, free_until as day
          from public.shipments
          where free_until <= today + 3 and stage < 9
          order by free_until, id
          limit 8
        ) as line
      )
    ),
    'standing', jsonb_build_object(
      'count', private.up_to_a_hundred(
        'select from public.shipments where turn = ''company'' and acted_at < now() - interval ''7 days'''
      ),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select id as shipment, name, status as what, acted_at as at
          from public.shipments
          where turn = 'company' and acted_at < now() - interval '7 days'
          order by acted_at, id
          limit 8
        ) as line
      )
    ),
    'waiting', jsonb_build_object(
      'count', private.up_to_a_hundred(
        'select from public.shipments where turn = ''client'' and turn_since < now() - interval ''7 days'''
      ),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select id as shipment, name, status as what, turn_since as at
          from public.shipments
          where turn = 'client' and turn_since < now() - interval '7 days'
          order by turn_since, id
          limit 8
        ) as line
      )
    ),
    'undelivered', jsonb_build_object(
      'count', private.up_to_a_hundred('select from public.undelivered_mails where dealt_with_at is null'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select id, kind, sent_to, account, at
          from public.undelivered_mails
          where dealt_with_at is null
          order by at, id
          limit 8
        ) as line
      )
    )
  );
end
$$;

-- Lines of the log as the desk shows them.
create function private.shown_acts(acts public.acts[]) returns jsonb
language sql stable
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', act.id, 'at', act.at, 'by', act.by_name, 'act', act.act, 'shipment', act.shipment, 'account', act.account,
    'document', (select name from public.documents where id = act.document),
    'before', act.before, 'after', act.after, 'reason', act.reason
  ) order by act.at desc, act.id desc), '[]'::jsonb)
  from unnest(acts) as act
$$;
revoke all on function private.shown_acts(public.acts[]) from public, anon, authenticated;

-- /desk/shipments and one of them beside the list: `opened`, null for none.
create function public.desk_shipments(
  q text default null, stage integer default null, turn text default null, page integer default 1,
  opened uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'shipments', private.find_shipments(
      desk_shipments.q, desk_shipments.stage, desk_shipments.turn, (greatest(page, 1) - 1) * 20, 21
    ),
    'opened', (
      select jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'awb', shipment.awb, 'stage', shipment.stage,
        'status', shipment.status, 'turn', shipment.turn, 'turn_since', shipment.turn_since,
        'changed_at', shipment.changed_at, 'created_at', shipment.created_at, 'version', shipment.version,
        'retain_until', shipment.retain_until,
        'arrival', case when shipment.arrived_on is not null then jsonb_build_object(
          'place', shipment.arrival_place, 'day', shipment.arrived_on, 'size', shipment.container_size,
          'free_until', shipment.free_until
        ) end,
        'client', (
          select jsonb_build_object(
            'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
            'closed', coalesce(account.banned_until > now(), false)
          )
          from auth.users as account where account.id = shipment.user_id
        ),
        'documents', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'verified', document.verified,
            'file_name', document.file_name, 'file_size', document.file_size, 'media_type', document.media_type,
            'uploaded_at', document.uploaded_at, 'version', document.version,
            'sent_back_at', document.sent_back_at, 'sent_back_reason', document.sent_back_reason
          )), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id
        ),
        'charges', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on,
            'note', charge.note, 'paid_at', charge.paid_at, 'version', charge.version
          )), '[]'::jsonb)
          from public.charges as charge where charge.shipment_id = shipment.id
        ),
        'events', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', event.id, 'status', event.status, 'location', event.location, 'note', event.note,
            'created_at', event.created_at
          ) order by event.created_at desc, event.id desc), '[]'::jsonb)
          from (
            select * from public.tracking_events
            where tracking_events.shipment_id = shipment.id
            order by created_at desc, id desc limit 9
          ) as event
        ),
        'log', private.shown_acts(array(
          select entry from public.acts as entry where entry.shipment = shipment.id
          order by entry.at desc, entry.id desc limit 8
        ))
      )
      from public.shipments as shipment where shipment.id = desk_shipments.opened
    )
  );
end
$$;

-- The next shipments of /desk/shipments.csv after the one whose change and id are given: 500, so that the whole list goes
-- through without being anywhere at once.
create function public.desk_shipments_after(
  q text default null, stage integer default null, turn text default null,
  before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'shipments', private.find_shipments(
      desk_shipments_after.q, desk_shipments_after.stage, desk_shipments_after.turn, 0, 500,
      desk_shipments_after.before, desk_shipments_after.before_id
    )
  );
end
$$;

-- /desk/clients and one of them beside the list. Search finds a name, an address, and a whole client ID.
create function public.desk_clients(q text default null, page integer default 1, opened uuid default null) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  pattern text := private.anywhere(coalesce(q, ''));
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'clients', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'closed', coalesce(account.banned_until > now(), false),
        'confirmed', account.email_confirmed_at is not null
      ) order by account.created_at desc, account.id desc), '[]'::jsonb)
      from (
        select * from auth.users
        where not exists (select from public.colleagues where colleagues.account = users.id)
          and (
            coalesce(btrim(q), '') = ''
            or users.email ilike pattern
            or users.raw_user_meta_data ->> 'full_name' ilike pattern
            or users.id = (select claimed_by from public.client_ids where client_id = upper(btrim(q)))
          )
        order by users.created_at desc, users.id desc
        offset (greatest(page, 1) - 1) * 20 limit 21
      ) as account
    ),
    'opened', (
      select jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'last_sign_in_at', account.last_sign_in_at,
        'closed', coalesce(account.banned_until > now(), false), 'confirmed', account.email_confirmed_at is not null,
        'client_id', (select client_id from public.client_ids where claimed_by = account.id),
        'factors', (
          select count(*) from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'kept_until', (select max(retain_until) from public.shipments where user_id = account.id),
        'shipments', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
            'turn', shipment.turn, 'changed_at', shipment.changed_at
          ) order by shipment.changed_at desc, shipment.id desc), '[]'::jsonb)
          from (
            select * from public.shipments where user_id = account.id order by created_at desc, id desc limit 20
          ) as shipment
        ),
        'log', private.shown_acts(array(
          select entry from public.acts as entry where entry.account = account.id
          order by entry.at desc, entry.id desc limit 8
        ))
      )
      from auth.users as account
      where account.id = desk_clients.opened
        and not exists (select from public.colleagues where colleagues.account = desk_clients.opened)
    )
  );
end
$$;

-- /desk/invitations: the unused client IDs, oldest first.
create function public.desk_invitations(page integer default 1) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'invitations', (
      select coalesce(jsonb_agg(to_jsonb(line) order by line.created_at, line.client_id), '[]'::jsonb)
      from (
        select client_id, issued_for, sent_to, created_at
        from public.client_ids
        where used_with is null
        order by created_at, client_id
        offset (greatest(page, 1) - 1) * 20 limit 21
      ) as line
    )
  );
end
$$;

-- /desk/colleagues: those who work here, those who are invited, and those who left.
create function public.desk_colleagues() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'colleagues', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', colleague.account, 'name', colleague.name, 'email', account.email, 'role', colleague.role,
        'created_at', colleague.created_at, 'removed_at', colleague.removed_at,
        'last_sign_in_at', account.last_sign_in_at,
        'has_factor', exists (
          select from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'is_me', account.id = auth.uid()
      ) order by colleague.removed_at nulls first, colleague.name, colleague.account), '[]'::jsonb)
      from (select * from public.colleagues order by removed_at nulls first, name, account limit 100) as colleague
      join auth.users as account on account.id = colleague.account
    )
  );
end
$$;

-- /desk/log: the acts, newest first, of somebody, of a kind, of a shipment, of a day (East Africa Time). Page 0: those after
-- the one whose time and id are given, 500 of them, for the CSV.
create function public.desk_log(
  who text default null, what text default null, shipment uuid default null, day date default null,
  page integer default 1, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  conditions text := 'true';
  found public.acts[];
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  if who is not null then
    conditions := conditions || ' and entry.by_name = $1';
  end if;
  if what is not null then
    conditions := conditions || ' and entry.act = $2';
  end if;
  if shipment is not null then
    conditions := conditions || ' and entry.shipment = $3';
  end if;
  if day is not null then
    conditions := conditions || ' and entry.at >= $4 and entry.at < $5';
  end if;
  if before is not null then
    conditions := conditions || ' and (entry.at, entry.id) < ($6, $7)';
  end if;
  execute format(
    'select array(select entry from public.acts as entry where %s order by entry.at desc, entry.id desc offset $8 limit $9)',
    conditions
  )
  into found
  using who, what, shipment, day::timestamp at time zone 'Africa/Nairobi',
    (day + 1)::timestamp at time zone 'Africa/Nairobi', before, before_id,
    (greatest(page, 1) - 1) * 50, case when page = 0 then 500 else 51 end;
  return jsonb_build_object('caller', private.caller(), 'acts', private.shown_acts(found));
end
$$;

do $$
declare
  page text;
begin
  foreach page in array array[
    'desk_today()',
    'desk_shipments(text, integer, text, integer, uuid)',
    'desk_shipments_after(text, integer, text, timestamptz, uuid)',
    'desk_clients(text, integer, uuid)',
    'desk_invitations(integer)',
    'desk_colleagues()',
    'desk_log(text, text, uuid, date, integer, timestamptz, uuid)'
  ] loop
    execute format('revoke all on function public.%s from public, anon', page);
    execute format('grant execute on function public.%s to authenticated', page);
  end loop;
end
$$;

-- What a page of the portal shows, as before, with what the desk tells its client: why a document was sent back, the notes
-- in the history, and what is announced to all.
create or replace function public.portal_page(page integer default 1, opened uuid default null) returns jsonb
language sql stable
security invoker
set search_path = ''
as $$
  with listed as (
    select shipment.id, shipment.name, shipment.status, shipment.stage, shipment.created_at
    from public.shipments as shipment
    where shipment.user_id = (select auth.uid())
    order by shipment.created_at desc, shipment.id desc
    offset (greatest(portal_page.page, 1) - 1) * 20
    limit 21
  )
  select jsonb_build_object(
    'caller', private.caller(),
    'announcement', (
      select jsonb_build_object('text', text, 'begun_at', begun_at) from public.announcements where ended_at is null
    ),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', listed.id, 'name', listed.name, 'status', listed.status, 'stage', listed.stage
      ) order by listed.created_at desc, listed.id desc), '[]'::jsonb)
      from listed
    ),
    'shipment', (
      select jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'status', shipment.status, 'stage', shipment.stage,
        'awb', shipment.awb,
        'documents', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'verified', document.verified,
            'sent_back_at', document.sent_back_at, 'sent_back_reason', document.sent_back_reason
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
