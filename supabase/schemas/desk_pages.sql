-- The shipments of a list, newest change first: at most `most`, after `skip` others. Or, for the CSV, in the order in which
-- they were opened, newest first, after the one whose time and id are given: what changes meanwhile stays where it is. Search
-- finds a name, an AWB/BL, the beginning of an id, and a client's name or address; `to_check` those with a document to check.
-- (later) The shipments of the desk's list as before. Each word of a search has to be in the name, in the AWB/BL, or in the client's name or
-- address, or the whole search is the AWB/BL or the beginning of an id, which people also write with the # of the page.
create function private.find_shipments(
  q text, stage integer, turn text, to_check boolean, skip integer, most integer,
  as_opened boolean default false, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable
set search_path = ''
as $$
declare
  bare constant text := private.bare_number(q);
  words constant text[] := private.words(q);
  ids constant uuid[] := private.ids_beginning(ltrim(btrim(left(q, 64)), '#'));
  conditions text := 'true';
  word integer;
  by_time text := case when as_opened then 'created_at' else 'changed_at' end;
  found jsonb;
begin
  if words is null then
    conditions := 'false';
  elsif cardinality(words) > 0 then
    conditions := '(shipment.id between $2 and $3 or translate(shipment.awb, '' -/.'', '''') ilike $1 or (true';
    for word in 1 .. cardinality(words) loop
      -- The clients of the word, as a constant: each row is looked up in it, and does not read it.
      conditions := conditions || format(
        ' and (shipment.name ilike ($4)[%1$s] or shipment.awb ilike ($4)[%1$s] or shipment.user_id = any (%2$L::uuid[]))',
        word,
        array(
          select users.id from auth.users
          where users.email ilike words[word] or users.raw_user_meta_data ->> 'full_name' ilike words[word]
        )
      );
    end loop;
    conditions := conditions || '))';
  end if;
  if stage is not null then
    conditions := conditions || ' and shipment.stage = $5';
  end if;
  if turn is not null then
    conditions := conditions || ' and shipment.turn = $6';
  end if;
  if to_check then
    conditions := conditions || ' and shipment.id in (
      select document.shipment_id from public.documents as document where document.uploaded and not document.verified)';
  end if;
  if before is not null then
    conditions := conditions || format(' and (shipment.%s, shipment.id) < ($9, $10)', by_time);
  end if;
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', found.id, 'name', found.name, 'awb', found.awb, 'stage', found.stage, 'status', found.status,
      'turn', found.turn, 'changed_at', found.changed_at, 'created_at', found.created_at, 'version', found.version,
      'client', account.raw_user_meta_data ->> 'full_name', 'email', account.email
    ) order by found.%2$s desc, found.id desc), '[]'::jsonb)
    from (
      select * from public.shipments as shipment where %1$s
      order by shipment.%2$s desc, shipment.id desc
      offset $7 limit $8
    ) as found
    join auth.users as account on account.id = found.user_id
  $query$, conditions, by_time)
  into found
  using bare, ids[1], ids[2], words, stage, turn, skip, most, before, before_id;
  return found;
end
$$;

-- /desk: the day's work. Each list has its count, up to 100, and its eight oldest.
-- (later) /desk as before, with who asked to be erased.
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
          select document.shipment_id as shipment, document.id as document, shipment.name, document.name as what,
            document.uploaded_at as at
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
        'select from public.shipments where turn = ''company''
          and greatest(acted_at, turn_since) < now() - interval ''7 days'''
      ),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select id as shipment, name, status as what, greatest(acted_at, turn_since) as at
          from public.shipments
          where turn = 'company' and greatest(acted_at, turn_since) < now() - interval '7 days'
          order by greatest(acted_at, turn_since), id
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
          select id, kind, sent_to, account, client_id, at,
            exists (select from public.colleagues where colleagues.account = undelivered_mails.account) as is_colleague
          from public.undelivered_mails
          where dealt_with_at is null
          order by at, id
          limit 8
        ) as line
      )
    ),
    'erasures', jsonb_build_object(
      'count', private.up_to_a_hundred('select from private.erasure_requests'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select request.account, request.asked_at as at,
            coalesce(nullif(account.raw_user_meta_data ->> 'full_name', ''), account.email) as name
          from private.erasure_requests as request
          join auth.users as account on account.id = request.account
          order by request.asked_at, request.account
          limit 8
        ) as line
      )
    )
  );
end
$$;
grant execute on function public.desk_today() to authenticated;

-- /desk/shipments and one of them beside the list: `opened`, null for none.
create function public.desk_shipments(
  q text default null, stage integer default null, turn text default null, to_check boolean default false, page integer default 1,
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
      desk_shipments.q, desk_shipments.stage, desk_shipments.turn, to_check, (greatest(page, 1) - 1) * 20, 21
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
grant execute on function public.desk_shipments(text, integer, text, boolean, integer, uuid) to authenticated;

-- The next shipments of /desk/shipments.csv after the one whose opening and id are given: 500, so that the whole list goes
-- through without being anywhere at once.
create function public.desk_shipments_after(
  q text default null, stage integer default null, turn text default null, to_check boolean default false,
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
      desk_shipments_after.q, desk_shipments_after.stage, desk_shipments_after.turn, to_check, 0, 500, true,
      desk_shipments_after.before, desk_shipments_after.before_id
    )
  );
end
$$;
grant execute on function public.desk_shipments_after(text, integer, text, boolean, timestamp with time zone, uuid) to authenticated;

-- The answer to a bulk move: the shipments of a list with what they are now, and what is missing of each.
create function public.desk_moved(shipments uuid[]) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
        'client', coalesce(account.raw_user_meta_data ->> 'full_name', account.email),
        'missing', (
          select coalesce(jsonb_agg(document.name order by document.name), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id and not document.uploaded
        )
      ) order by shipment.name, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      join auth.users as account on account.id = shipment.user_id
      where shipment.id = any (desk_moved.shipments[1:50])
    )
  );
end
$$;
grant execute on function public.desk_moved(uuid[]) to authenticated;

-- /desk/clients, or one of them: `opened`. Search finds a name, an address, and a whole client ID.
-- (later) /desk/clients as before; an opened one says whether it asked to be erased.
-- (later) /desk/clients as before. Each word of a search has to be in the name or the address, or the whole search is a client ID as
-- people type it: with or without its dashes, in any case, with O, I and L for the digits they mean.
create function public.desk_clients(q text default null, page integer default 1, opened uuid default null) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  words constant text[] := private.words(q);
  typed_id constant text := upper(btrim(left(q, 64)));
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'clients', case when opened is not null then '[]'::jsonb else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'closed', coalesce(account.banned_until > now(), false),
        'confirmed', account.email_confirmed_at is not null
      ) order by account.created_at desc, account.id desc), '[]'::jsonb)
      from (
        select * from auth.users
        where not exists (select from public.colleagues where colleagues.account = users.id)
          and (
            (words is not null and not exists (
              select from unnest(words) as word
              where not (users.email ilike word or coalesce(users.raw_user_meta_data ->> 'full_name', '') ilike word)
            ))
            or users.id in (
              select claimed_by from public.client_ids
              where client_id in (
                typed_id, regexp_replace(translate(typed_id, 'OIL -', '011'), '(.{4})(?!$)', '\1-', 'g')
              )
            )
          )
        order by users.created_at desc, users.id desc
        offset (greatest(page, 1) - 1) * 20 limit 21
      ) as account
    ) end,
    'opened', (
      select jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'last_sign_in_at', account.last_sign_in_at,
        'closed', coalesce(account.banned_until > now(), false), 'confirmed', account.email_confirmed_at is not null,
        'client_id', (select client_id from public.client_ids where claimed_by = account.id),
        'factors', (
          select count(*) from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'erasure_asked_at', (
          select request.asked_at from private.erasure_requests as request where request.account = account.id
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
grant execute on function public.desk_clients(text, integer, uuid) to authenticated;
